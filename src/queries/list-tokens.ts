/**
 * Page tokens are texts that clients only pass back. A malformed one is never an error: it names a position in the order all
 * the same (job interface, pagination).
 */

/** The position of a record with a name in a namespace, such as a job: namespaces have no dots, names may. */
export function namedTokenOf(namespace: string, name: string): string {
  return `${namespace}.${name}`;
}

export function namedPositionOf(token: string): readonly [namespace: string, name: string] {
  const dot = token.indexOf('.');
  return dot < 0 ? [token, ''] : [token.slice(0, dot), token.slice(dot + 1)];
}

/** The position of an evaluation, allocation or deployment: in the order of creation, then by ID. */
export function createdTokenOf(row: { readonly CreateIndex: number; readonly ID: string }): string {
  return `${row.CreateIndex}.${row.ID}`;
}

export function createdPositionOf(token: string): readonly [createIndex: number, id: string] {
  const match = /^(\d{1,15})(?:\.(.*))?$/s.exec(token);
  return match === null ? [0, ''] : [Number(match[1]), match[2] ?? ''];
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Whether a text can be the whole ID of an evaluation, allocation, deployment or node. */
export function isUuid(text: string): boolean {
  return uuid.test(text);
}
