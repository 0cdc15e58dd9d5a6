/**
 * The problem of a value outside the field's choices, for example `mode must be fail or delay, not "x"`; undefined for a valid
 * value. `name` is the field's name in the job specification.
 */
import { quoted } from '../../shared/values.js';

export function choiceProblem(
  name: string,
  field: { readonly values: readonly string[] },
  value: string,
): string | undefined {
  if (field.values.includes(value)) return undefined;
  const others = field.values.slice(0, -1).join(', ');
  return `${name} must be ${others === '' ? '' : `${others} or `}${field.values.at(-1)}, not ${quoted(value)}`;
}

/** Names for a message: quoted, at most as many as a person reads. */
export function listed(names: readonly string[]): string {
  const shown = names.slice(0, 20).map(quoted).join(', ');
  return names.length > 20 ? `${shown} and ${names.length - 20} more` : shown;
}

/**
 * Several errors as one string: a heading with their number, then one line each, and an empty line at the end. Clients of the job
 * interface show it unchanged.
 */
export function errorsText(errors: readonly string[]): string {
  const heading = errors.length === 1 ? '1 error occurred:' : `${errors.length} errors occurred:`;
  return `${heading}\n${errors.map((error) => `\t* ${error}\n`).join('')}\n`;
}

/** Warnings as one string, or the empty string when there are none. */
export function warningsText(warnings: readonly string[]): string {
  if (warnings.length === 0) return '';
  const heading = warnings.length === 1 ? '1 warning:' : `${warnings.length} warnings:`;
  return `${heading}\n${warnings.map((warning) => `\n* ${warning}`).join('')}`;
}
