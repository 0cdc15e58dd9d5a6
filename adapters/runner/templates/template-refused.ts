import type { EnvironmentFault } from '../../../src/agent/template/environment-text.js';
import type { FaultyTemplate } from '../../../src/agent/template/render-templates.js';
import type { VariableRead } from '../../../src/templates/index.js';

/** A template cannot be read, rendered or written to its destination. */
export class TemplateRefused extends Error {}

/** Variable names for a message. */
export function namesOf(missing: readonly VariableRead[]): string {
  const names = [
    ...new Set(missing.map(({ path, namespace }) => (namespace === undefined ? path : `${path}@${namespace}`))),
  ];
  const more = names.length > 5 ? ` and ${names.length - 5} more` : '';
  return `the variable${names.length === 1 ? '' : 's'} ${names.slice(0, 5).join(', ')}${more}`;
}

export function faultText({ at, fault }: FaultyTemplate): string {
  return `Template ${at + 1}, line ${fault.line}, column ${fault.column}: ${fault.message}`;
}

export function lineText(at: number, { line, message }: EnvironmentFault): string {
  return `Template ${at + 1} rendered an invalid environment, line ${line}: ${message}`;
}
