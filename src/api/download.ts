/** Bytes that are to be saved as a file. */
export interface Download extends AsyncIterable<Uint8Array> {
  /** A proposal, which may contain anything. */
  readonly fileName: string;
}

export function isDownload(items: AsyncIterable<unknown>): items is Download {
  return 'fileName' in items;
}

/** The most characters of a file name. */
const longestName = 120;

/**
 * The value of a `Content-Disposition` header with a file name (RFC 6266): letters, digits, dots, dashes and underscores, and beside it the
 * name itself as far as it differs, without what controls text or separates folders. Nothing else of the name reaches the header.
 */
export function attachmentOf(fileName: string): string {
  const name = [...fileName.replace(/[\p{C}\p{Zl}\p{Zp}/\\:*?"<>|]/gu, '_').replace(/^[. ]+/, '_')]
    .slice(0, longestName)
    .join('');
  const ascii = name.replace(/[^A-Za-z0-9._-]/gu, '_') || 'download';
  if (ascii === name || name === '') return `attachment; filename="${ascii}"`;
  const encoded = encodeURIComponent(name).replace(
    /[!'()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`;
}
