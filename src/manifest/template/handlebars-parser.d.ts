/// <reference types="handlebars" />

/** Declares only the parser. The rest of the package compiles and runs templates, which must not happen here. */
declare module 'handlebars/dist/cjs/handlebars/compiler/base.js' {
  export function parse(text: string): hbs.AST.Program;
}
