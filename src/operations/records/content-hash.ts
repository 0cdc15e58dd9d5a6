/** A digest of a content, in base64: equal contents have equal digests. Not for secrets. */
export function contentHash(...parts: readonly unknown[]): string {
  return process.getBuiltinModule('node:crypto').createHash('sha256').update(JSON.stringify(parts)).digest('base64');
}
