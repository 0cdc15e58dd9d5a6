import type { ForDirective, Span, Template, TemplatePart } from '../syntax/tree.js';
import { numberText } from '../values/number.js';
import { typeText } from '../values/render.js';
import { type HclValue, stringValue } from '../values/value.js';
import { normalizationWork, textWork } from '../values/work.js';
import { evaluateCondition, forEach } from './collections.js';
import { type EvaluationContext, outOfBudget, paidFor, problem } from './context.js';

/** A template's string. A template that consists of one `${ }` has the value inside it, of any type. */
export function evaluateTemplate(context: EvaluationContext, template: Template): HclValue | undefined {
  const [only] = template.parts;
  if (template.passThrough && only?.kind === 'interpolation') return context.evaluate(context, only.value);
  const text = renderParts(context, template.parts, template);
  if (text === undefined || !paidFor(context, template, normalizationWork(text))) return undefined;
  return stringValue(text);
}

function renderParts(context: EvaluationContext, parts: readonly TemplatePart[], span: Span): string | undefined {
  let text = '';
  let failed = false;
  for (const part of parts) {
    const piece = renderPart(context, part);
    if (piece === undefined) failed = true;
    else text += piece;
    if (context.budget.exhausted) return outOfBudget(context, part);
    if (text.length > context.budget.limits.textLength) break;
  }
  if (failed) return undefined;
  return context.budget.chargeText(text.length) ? text : outOfBudget(context, span);
}

function renderPart(context: EvaluationContext, part: TemplatePart): string | undefined {
  switch (part.kind) {
    case 'text':
      return part.text;
    case 'interpolation': {
      const value = context.evaluate(context, part.value);
      return value === undefined ? undefined : textOf(context, value, part.value);
    }
    case 'if': {
      const decision = evaluateCondition(context, part.condition);
      if (decision === undefined) return undefined;
      return renderParts(context, decision ? part.whenTrue : (part.whenFalse ?? []), part);
    }
    case 'for-directive':
      return renderFor(context, part);
  }
}

function renderFor(context: EvaluationContext, directive: ForDirective): string | undefined {
  let text = '';
  const complete = forEach(context, directive, (inner) => {
    const piece = renderParts(inner, directive.body, directive);
    if (piece === undefined) return false;
    text += piece;
    return text.length <= context.budget.limits.textLength;
  });
  if (text.length > context.budget.limits.textLength) {
    context.budget.chargeText(text.length);
    return outOfBudget(context, directive);
  }
  return complete ? text : undefined;
}

function textOf(context: EvaluationContext, value: HclValue, span: Span): string | undefined {
  switch (value.kind) {
    case 'string':
      return value.value;
    case 'bool':
      return value.value ? 'true' : 'false';
    case 'number':
      return paidFor(context, span, textWork(value)) ? numberText(value.value) : undefined;
    case 'null':
      return problem(context, 'bad_template_value', span, 'null cannot be part of a string.');
    case 'list':
    case 'set':
    case 'map':
    case 'tuple':
    case 'object':
      return problem(context, 'bad_template_value', span, {
        message: `A value of type ${typeText(value)} cannot be part of a string.`,
        detail: 'Use jsonencode(), join(), or a %{ for } directive.',
      });
  }
}
