import type { FieldFault } from '../../notifications/errors.js';
import { hasLoneSurrogate } from '../../shared/values.js';

/** An ID chosen by the host must be valid in a URL path: not empty, without slashes, white space and lone surrogates. */
export function checkIdentifier(id: unknown, faults: FieldFault[]): void {
  if (typeof id === 'string' && /^[^\s/]{1,128}$/.test(id) && !hasLoneSurrogate(id)) return;
  faults.push({
    pointer: '/data/id',
    message: 'id must be 1 to 128 characters of valid Unicode, without slashes and white space',
  });
}

/** A name chosen by the host: 1 to 255 characters, not only white space. Paths contain the names of organizations and workspaces. */
export function checkName(value: unknown, name: string, faults: FieldFault[]): void {
  if (typeof value === 'string' && value.trim() !== '' && value.length <= 255 && !hasLoneSurrogate(value)) return;
  faults.push({
    pointer: `/data/attributes/${name}`,
    message: `${name} must be a string of 1 to 255 characters of valid Unicode, not only white space`,
  });
}
