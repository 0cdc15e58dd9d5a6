import type { ResultAsync } from 'neverthrow';
import type { Milliseconds } from '../shared/duration.js';

/** A file to fetch, with bounds for its size and for the time that it takes. */
export interface DownloadRequest {
  /** Absolute http: or https: URL. Userinfo becomes Basic authentication. */
  readonly url: string;
  /** Sent to the first origin only, not to one that a redirect leads to. */
  readonly headers: Readonly<Record<string, string>>;
  /** Until the connection (with TLS) stands. */
  readonly connectTimeout: Milliseconds;
  /** The longest silence of the server, before and within its answer. */
  readonly idleTimeout: Milliseconds;
  /** From the call to the last byte. */
  readonly totalTimeout: Milliseconds;
  /** A longer file ends the download with an error. */
  readonly maximumBytes: number;
  /** Ends the download early. */
  readonly signal: AbortSignal;
}

/** No file. The message names scheme and host only, never path, query, userinfo or header. */
export interface DownloadError {
  readonly type: 'download_failed';
  readonly message: string;
  /** Asking again changes nothing: the address is forbidden, or the URL is not valid. */
  readonly isFinal: boolean;
}

/** Fetches files that jobs name, under the same rules as all that is sent outside. */
export interface Download {
  /**
   * Follows up to 10 redirects, never from https: to http:. Gives the bytes of a 2xx answer to `take`, in order, each after the one
   * before is taken, and resolves with their count when all have come. What `take` throws, this throws.
   */
  fetch(request: DownloadRequest, take: (bytes: Uint8Array) => Promise<void>): ResultAsync<number, DownloadError>;
}
