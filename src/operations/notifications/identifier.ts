import type { FieldFault } from '../../notifications/errors.js';
import { hasLoneSurrogate } from '../../shared/text-values.js';

/** An id that the host chooses must survive in a URL path: not empty, no slash, no white space, no half of a surrogate pair. */
export function checkIdentifier(id: unknown, faults: FieldFault[]): void {
  if (typeof id === 'string' && /^[^\s/]{1,128}$/.test(id) && !hasLoneSurrogate(id)) return;
  faults.push({
    pointer: '/data/id',
    message: 'id must have 1 to 128 characters without slash and white space, and be valid Unicode',
  });
}

/** A name of the host: 1 to 255 characters, not only white space; organizations and workspaces are found by theirs in paths. */
export function checkName(value: unknown, name: string, faults: FieldFault[]): void {
  if (typeof value === 'string' && value.trim() !== '' && value.length <= 255 && !hasLoneSurrogate(value)) return;
  faults.push({
    pointer: `/data/attributes/${name}`,
    message: `${name} must be a string of 1 to 255 characters, and valid Unicode`,
  });
}
