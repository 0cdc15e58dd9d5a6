import type { Principal } from '../../access/principal.js';

interface Presented {
  /** Absent for callers without a token. */
  readonly secret: string | undefined;
}

const presented = new WeakMap<Principal, Presented>();

/** Remembers the secret by which a principal was found, for as long as this process keeps the principal. It is shown to its holder only. */
export function rememberPresented(principal: Principal, secret: string | undefined): void {
  presented.set(principal, { secret });
}

/** The secret that a caller presented; undefined for a caller that was authenticated in another way. */
export function presentedSecret(principal: Principal): string | undefined {
  return presented.get(principal)?.secret;
}

/** Whether the token store authenticated this caller, with or without a token. How others are authenticated is up to the host. */
export function isOfTokenStore(principal: Principal): boolean {
  return presented.has(principal);
}

/** The same caller within a trace. A copy of a principal that is made in another way is not recognised as the holder of its token. */
export function callerWithin(caller: Principal, traceparent: string): Principal {
  const traced = { ...caller, traceparent };
  const found = presented.get(caller);
  if (found !== undefined) presented.set(traced, found);
  return traced;
}
