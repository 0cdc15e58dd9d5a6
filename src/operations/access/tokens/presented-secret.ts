import type { Principal } from '../../../access/principal.js';

const presented = new WeakMap<Principal, string>();

/** Remembers the secret by which a principal was found, for as long as this process keeps the principal. It is shown to its holder only. */
export function rememberPresented(principal: Principal, secret: string): void {
  presented.set(principal, secret);
}

/** The secret that a caller presented; undefined for a caller that was authenticated in another way. */
export function presentedSecret(principal: Principal): string | undefined {
  return presented.get(principal);
}
