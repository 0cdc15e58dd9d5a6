import { quoted } from '../../shared/values.js';
import { parseTemplate } from '../../templates/template.js';
import { type TaskTemplate, templateBlock } from '../document/task-parts.js';
import { choiceProblem, type Report, reportIf, within } from './problems.js';
import { pathEscapes } from './validate-task-parts.js';

export function validateTemplates(templates: readonly TaskTemplate[] | null, report: Report): void {
  const destinations = new Map<string, number>();
  for (const [index, template] of (templates ?? []).entries()) {
    const at = within(report, `template ${index + 1}`);
    validateTemplate(template, at);
    const other = destinations.get(template.DestPath);
    if (other !== undefined) at(`the destination ${quoted(template.DestPath)} is that of template ${other + 1}`);
    else destinations.set(template.DestPath, index);
  }
}

function validateTemplate(template: TaskTemplate, report: Report): void {
  if (template.SourcePath === '' && template.EmbeddedTmpl === '') report('a source or data is required');
  if (template.DestPath === '') report('a destination is required');
  if (pathEscapes('task', template.DestPath)) report('the destination is outside the allocation directory');
  validateSource(template, report);
  validateChange(template, report);
  if (template.Splay < 0) report('splay must not be negative');
  if (template.Perms !== '' && !/^0*[0-7]{1,4}$/.test(template.Perms)) {
    report(`perms must be an octal number of at most 7777, not ${quoted(template.Perms)}`);
  }
  const { Min, Max } = template.Wait ?? { Min: null, Max: null };
  if (Min !== null && Max !== null && Min > Max) report('wait: min must not be longer than max');
}

/** An invalid template would prevent its task from starting. A template in a file is read only when the task starts. */
function validateSource({ EmbeddedTmpl, LeftDelim, RightDelim }: TaskTemplate, report: Report): void {
  const parsed = parseTemplate(EmbeddedTmpl, { left: LeftDelim, right: RightDelim });
  if (parsed.isErr()) report(`data, line ${parsed.error.line}, column ${parsed.error.column}: ${parsed.error.message}`);
}

/** Checks the change mode and its options. */
function validateChange(template: TaskTemplate, report: Report): void {
  switch (template.ChangeMode) {
    case 'noop':
    case 'restart':
      return;
    case 'signal':
      if (template.ChangeSignal === '') report('change_mode signal needs change_signal');
      if (template.Envvars) report('change_mode signal cannot be used with env = true');
      return;
    case 'script':
      if ((template.ChangeScript?.Command ?? '') === '') {
        report('change_mode script needs a change_script with a command');
      }
      return;
    default:
      reportIf(report, choiceProblem('change_mode', templateBlock.fields.ChangeMode, template.ChangeMode));
  }
}
