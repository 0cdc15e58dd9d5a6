import { err, ok, type Result } from 'neverthrow';
import type { Template, TemplateFault, TemplateInputs, VariableRead } from '../../templates/index.js';
import type { KnownVariables } from './known-variables.js';

/** A template of a task that was read. */
export interface ReadTemplate {
  /** Its index in the task, from 0. */
  readonly at: number;
  readonly template: Template;
  readonly failsWithoutKey: boolean;
}

export interface RenderedTemplate {
  readonly at: number;
  readonly text: string;
}

export interface FaultyTemplate {
  readonly at: number;
  readonly fault: TemplateFault;
}

/** The outcome of rendering all templates of a task with the present values. */
export type TemplatesOutcome =
  /** A variable was requested that was not received yet. */
  | { readonly type: 'unknown' }
  /** Variables that are read do not exist. */
  | { readonly type: 'missing'; readonly missing: readonly VariableRead[] }
  | { readonly type: 'rendered'; readonly rendered: readonly RenderedTemplate[] };

/** Renders the templates of a task. A fault counts only when all requested variables are present. */
export function renderTemplates(
  templates: readonly ReadTemplate[],
  known: KnownVariables,
  surroundings: Pick<TemplateInputs, 'env' | 'meta'>,
): Result<TemplatesOutcome, FaultyTemplate> {
  const inputs: TemplateInputs = { ...surroundings, ...known.inputs };
  const rendered: RenderedTemplate[] = [];
  const missing: VariableRead[] = [];
  let faulty: FaultyTemplate | undefined;
  for (const { at, template, failsWithoutKey } of templates) {
    const rendering = template.render(inputs, { failsWithoutKey });
    if (rendering.isErr()) {
      faulty ??= { at, fault: rendering.error };
      continue;
    }
    rendered.push({ at, text: rendering.value.text });
    missing.push(...rendering.value.missing);
  }
  if (!known.isEmpty && known.version === null) return ok({ type: 'unknown' });
  if (faulty !== undefined) {
    return known.missing.length > 0 ? ok({ type: 'missing', missing: known.missing }) : err(faulty);
  }
  return ok(missing.length > 0 ? { type: 'missing', missing } : { type: 'rendered', rendered });
}
