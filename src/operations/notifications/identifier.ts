import type { FieldFault } from '../../notifications/errors.js';

/** An id that the host chooses must survive in a URL path: not empty, no slash, no white space. */
export function checkIdentifier(id: unknown, name: string, faults: FieldFault[]): void {
  if (typeof id === 'string' && /^[^\s/]{1,128}$/.test(id)) return;
  faults.push({ pointer: `/${name}`, message: `${name} must have 1 to 128 characters without slash and white space` });
}
