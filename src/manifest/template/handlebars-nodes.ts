import type { LoopName } from './template.ts';

/** A node of the syntax tree of Handlebars. */
export type Node = hbs.AST.Node;

const loopNames: readonly string[] = ['index', 'key', 'first', 'last'];

export function literalValue(node: Node): { value: string | number | boolean | null } | undefined {
  switch (node.type) {
    case 'StringLiteral':
      return { value: (node as hbs.AST.StringLiteral).value };
    case 'NumberLiteral':
      return { value: (node as hbs.AST.NumberLiteral).value };
    case 'BooleanLiteral':
      return { value: (node as hbs.AST.BooleanLiteral).value };
    case 'NullLiteral':
    case 'UndefinedLiteral':
      return { value: null };
    default:
      return undefined;
  }
}

export const isPath = (node: Node): node is hbs.AST.PathExpression => node.type === 'PathExpression';
export const isSubExpression = (node: Node): node is hbs.AST.SubExpression => node.type === 'SubExpression';
export const isContent = (node: Node): node is hbs.AST.ContentStatement => node.type === 'ContentStatement';
export const isMustache = (node: Node): node is hbs.AST.MustacheStatement => node.type === 'MustacheStatement';
export const isBlock = (node: Node): node is hbs.AST.BlockStatement => node.type === 'BlockStatement';
export const isLoopName = (name: string): name is LoopName['name'] => loopNames.includes(name);
