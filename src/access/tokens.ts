import { table } from '../shared/table.js';
import type { NamespaceRule, Principal, WorkspaceRight } from './principal.js';

/** A stored token. The secret itself is never stored: `secretHash` is its SHA-256 in lower-case hex. */
export interface StoredToken {
  readonly accessor: string;
  readonly secretHash: string;
  readonly name: string;
  readonly management: boolean;
  readonly namespaces: Readonly<Record<string, NamespaceRule>>;
  readonly workspaces: Readonly<Record<string, WorkspaceRight>>;
  readonly createdAt: number;
}

export const tokens = table<StoredToken>('tokens', (token) => [token.accessor], {
  by_secret: { version: 1, key: (token) => [token.secretHash] },
});

/** The principal that a stored token stands for. */
export function principalFromToken(token: StoredToken): Principal {
  const { accessor, name, management, namespaces, workspaces } = token;
  return { accessor, name, management, namespaces, workspaces };
}
