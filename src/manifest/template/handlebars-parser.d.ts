/// <reference types="handlebars" />

/** The parser alone: the rest of the package compiles and runs templates, which is never wanted here. */
declare module 'handlebars/dist/cjs/handlebars/compiler/base.js' {
  export function parse(text: string): hbs.AST.Program;
}
