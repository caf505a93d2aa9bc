/// <reference types="handlebars" />

/** The parser alone: the rest of the package compiles templates and runs them, which nobody here wants. */
declare module 'handlebars/dist/cjs/handlebars/compiler/base.js' {
  export function parse(text: string): hbs.AST.Program;
}
