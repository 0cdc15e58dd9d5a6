import type { FieldFault } from '../../notifications/errors.js';
import { hasLoneSurrogate } from '../../shared/text-values.js';

/** The fault of an ID chosen by the host: it must be usable in a URL path. */
export function checkIdentifier(id: unknown, faults: FieldFault[]): void {
  if (typeof id === 'string' && /^[^\s/]{1,128}$/.test(id) && !hasLoneSurrogate(id)) return;
  faults.push({
    pointer: '/data/id',
    message: 'id must have 1 to 128 characters without slashes and white space, and be valid Unicode',
  });
}

/** The fault of a name chosen by the host: paths contain the names of organizations and workspaces. */
export function checkName(value: unknown, name: string, faults: FieldFault[]): void {
  if (typeof value === 'string' && value.trim() !== '' && value.length <= 255 && !hasLoneSurrogate(value)) return;
  faults.push({
    pointer: `/data/attributes/${name}`,
    message: `${name} must be a string of 1 to 255 characters, and valid Unicode`,
  });
}
