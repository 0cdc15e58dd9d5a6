import type { Principal } from '../../access/principal.js';

interface Presented {
  /** Absent for callers without a token. */
  readonly secret: string | undefined;
}

const presented = new WeakMap<Principal, Presented>();

/** Stores the secret by which a principal was authenticated, as long as the principal is in memory. It is shown to its holder only. */
export function rememberPresented(principal: Principal, secret: string | undefined): void {
  presented.set(principal, { secret });
}

/** The secret that a caller presented; undefined for a caller that was authenticated in another way. */
export function presentedSecret(principal: Principal): string | undefined {
  return presented.get(principal)?.secret;
}

/** Whether the token store authenticated this caller, with or without a token. The host authenticates all others. */
export function isOfTokenStore(principal: Principal): boolean {
  return presented.has(principal);
}

/** The same caller within a trace. Use this to copy a principal: other copies are not recognised as holders of their token. */
export function callerWithin(caller: Principal, traceparent: string): Principal {
  const traced = { ...caller, traceparent };
  const found = presented.get(caller);
  if (found !== undefined) presented.set(traced, found);
  return traced;
}

/** The stored form of a token's secret: its SHA-256 in lower-case hex. Secrets are random, so no salt or stretching is needed. */
export function secretHash(secret: string): string {
  return process.getBuiltinModule('node:crypto').createHash('sha256').update(secret).digest('hex');
}
