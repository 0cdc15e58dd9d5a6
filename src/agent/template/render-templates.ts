import { err, ok, type Result } from 'neverthrow';
import type { Template, TemplateFault, TemplateInputs, VariableRead } from '../../templates/index.js';
import type { KnownVariables } from './known-variables.js';

/** A rendered template of a task. */
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

/** The result of rendering all templates of a task with the current values. */
export type TemplatesOutcome =
  /** A requested variable has not been received yet. */
  | { readonly type: 'unknown' }
  /** A template reads variables that do not exist. */
  | { readonly type: 'missing'; readonly missing: readonly VariableRead[] }
  | { readonly type: 'rendered'; readonly rendered: readonly RenderedTemplate[] };

/** Renders the templates of a task. Errors count only when all requested variables have been received. */
export function renderTemplates(
  templates: readonly ReadTemplate[],
  known: KnownVariables,
  context: Pick<TemplateInputs, 'env' | 'meta'>,
): Result<TemplatesOutcome, FaultyTemplate> {
  const inputs: TemplateInputs = { ...context, ...known.inputs };
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
