import type { Principal } from '../../access/principal.js';

const presented = new WeakMap<Principal, string>();

/** Remembers, for as long as the principal lives in this process, the secret that it was found by. It is shown to its holder only. */
export function rememberPresented(principal: Principal, secret: string): void {
  presented.set(principal, secret);
}

/** The secret that a caller presented; undefined for one who came otherwise. */
export function presentedSecret(principal: Principal): string | undefined {
  return presented.get(principal);
}
