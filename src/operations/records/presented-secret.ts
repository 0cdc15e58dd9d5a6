import type { Principal } from '../../access/principal.js';

/** By what a caller was authenticated; callers without a token have neither. */
export interface Presented {
  /** The secret of a token. */
  readonly secret?: string;
  /** The digest of the secret of a session. */
  readonly session?: string;
}

const presented = new WeakMap<Principal, Presented>();

/** Stores by what a principal was authenticated, as long as the principal is in memory. A secret is shown to its holder only. */
export function rememberPresented(principal: Principal, by: Presented): void {
  presented.set(principal, by);
}

/** By what the token store authenticated a caller; undefined for a caller that was authenticated in another way. */
export function presentedBy(principal: Principal): Presented | undefined {
  return presented.get(principal);
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
