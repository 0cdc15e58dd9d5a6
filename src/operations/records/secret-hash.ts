/** The stored form of a token's secret: its SHA-256 in lower-case hex. Secrets are random, so no salt or stretching is needed. */
export function secretHash(secret: string): string {
  return process.getBuiltinModule('node:crypto').createHash('sha256').update(secret).digest('hex');
}
