import { err, ok, type Result } from 'neverthrow';
import type { NamespaceError } from '../errors.js';
import type { Namespace } from './namespace.js';

const name = /^[a-zA-Z0-9-]{1,128}$/;
const maximumDescription = 256;

/** The rules for a namespace's own fields (job interface, namespaces). */
export function checkNamespace(
  namespace: Pick<Namespace, 'Name' | 'Description'>,
): Result<void, Extract<NamespaceError, { type: 'invalid_namespace' }>> {
  if (!name.test(namespace.Name)) {
    const shown = JSON.stringify(namespace.Name.slice(0, 140));
    return invalid(`invalid name ${shown}. It must have 1 to 128 letters, digits and dashes`);
  }
  if (namespace.Description.length > maximumDescription) {
    return invalid(`description longer than ${maximumDescription} characters`);
  }
  return ok(undefined);
}

function invalid(message: string): Result<never, Extract<NamespaceError, { type: 'invalid_namespace' }>> {
  return err({ type: 'invalid_namespace', message });
}
