/*
 * Templates of tasks: a subset of Nomad's language as pure functions, without files, network, clock or catalogue. A rendering
 * reports which variables of the store it read, so that it can be repeated when they change.
 */
export { functionNames } from './functions/index.js';
export type { NodeMember } from './functions/store.js';
export type { TemplateInputs, VariableName, VariableRead } from './functions/template-function.js';
export type { Rendering, RenderOptions } from './render-template.js';
export { parseTemplate, type Template } from './template.js';
export type { TemplateFault } from './tree.js';
