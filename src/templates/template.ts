import type { Result } from 'neverthrow';
import type { TemplateInputs } from './functions/template-function.js';
import { faultIn, parseTree } from './parse-template.js';
import { type Rendering, type RenderOptions, renderTree } from './render-template.js';
import type { Delimiters } from './tokens.js';
import type { TemplateFault } from './tree.js';

/** A parsed template, which can be rendered any number of times. */
export interface Template {
  readonly render: (inputs: TemplateInputs, options?: RenderOptions) => Result<Rendering, TemplateFault>;
}

/**
 * Parses a template of a task (job interface, templates): literal parts with actions between `{{` and `}}`, or the given delimiters.
 * Anything that the guide to templates does not list is rejected here, with line and column, before rendering.
 */
export function parseTemplate(source: string, delimiters: Partial<Delimiters> = {}): Result<Template, TemplateFault> {
  return parseTree(source, delimiters).map((block) => ({
    render: (inputs, options = {}) => renderTree(block, inputs, options).mapErr(faultIn(source)),
  }));
}
