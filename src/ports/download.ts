import type { ResultAsync } from 'neverthrow';
import type { Milliseconds } from '../shared/duration.js';

/** A file to fetch, with its largest size and timeouts. */
export interface DownloadRequest {
  /** Absolute http: or https: URL. Userinfo becomes Basic authentication. */
  readonly url: string;
  /** Sent to the first origin only, not after a redirect to another. */
  readonly headers: Readonly<Record<string, string>>;
  /** From the call until the connection, with TLS, is established. */
  readonly connectTimeout: Milliseconds;
  /** The longest time without a byte from the server, before and during its response. */
  readonly idleTimeout: Milliseconds;
  /** From the call to the last byte. */
  readonly totalTimeout: Milliseconds;
  /** A longer file ends the download with an error. */
  readonly maximumBytes: number;
  /** Aborts the download. */
  readonly signal: AbortSignal;
}

/** The download failed. The message names scheme and host only, never path, query, userinfo or header. */
export interface DownloadError {
  readonly type: 'download_failed';
  readonly message: string;
  /** A retry cannot succeed: the address is forbidden, or the URL is invalid. */
  readonly isFinal: boolean;
}

/** Fetches files that jobs name, under the same rules as all outbound requests. */
export interface Download {
  /**
   * Follows up to 10 redirects, never from https: to http:. Passes the chunks of a 2xx response to `take`, in order and one at a
   * time, and resolves with the total number of bytes. Rejects with what `take` throws.
   */
  fetch(request: DownloadRequest, take: (bytes: Uint8Array) => Promise<void>): ResultAsync<number, DownloadError>;
}
