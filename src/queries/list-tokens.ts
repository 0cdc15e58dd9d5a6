/**
 * Page tokens are opaque to clients, who only pass them back. A malformed one is never an error: it still determines a position in the order
 * (job interface, pagination).
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

/** The position of a job in the order of changes. Unless it is the first of its write, the token includes its namespace and ID. */
export function changedTokenOf(job: Changed, isFirst: boolean): string {
  const index = String(job.ModifyIndex);
  return isFirst ? index : `${index}.${namedTokenOf(job.Namespace, job.ID)}`;
}

/** Undefined for a string that names no change. Without namespace and ID: the first change of the write. */
export function changedPositionOf(
  token: string,
): readonly [modifyIndex: number, job: readonly [namespace: string, id: string] | undefined] | undefined {
  const dot = token.indexOf('.');
  const index = Number(dot < 0 ? token : token.slice(0, dot));
  if (!Number.isFinite(index)) return undefined;
  return [index, dot < 0 ? undefined : namedPositionOf(token.slice(dot + 1))];
}

interface Changed {
  readonly ModifyIndex: number;
  readonly Namespace: string;
  readonly ID: string;
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Whether a string can be the whole ID of an evaluation, allocation, deployment or node. */
export function isUuid(text: string): boolean {
  return uuid.test(text);
}
