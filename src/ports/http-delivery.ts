import type { ResultAsync } from 'neverthrow';
import type { Milliseconds } from '../shared/duration.js';
import type { Instant } from '../shared/instant.js';

/** One HTTP request to a destination, with its timeouts and the largest response. */
export interface DeliveryRequest {
  readonly method: 'POST';
  /** Absolute http: or https: URL. Userinfo becomes Basic authentication. */
  readonly url: string;
  /** Lower-case names. The adapter adds host, content-length and, from userinfo, authorization. */
  readonly headers: Readonly<Record<string, string>>;
  /** Sent exactly as given, in UTF-8. */
  readonly body: string;
  /** From the call until the connection, with TLS, is established. */
  readonly connectTimeout: Milliseconds;
  /** From the call to the last byte of the response. */
  readonly totalTimeout: Milliseconds;
  /** Decoded bytes of the response that are kept; reading stops there and the connection is closed. */
  readonly maximumResponseBytes: number;
  /** Aborts the attempt: the error is `aborted`. */
  readonly signal?: AbortSignal;
  /** On whose behalf the request is sent: limits, such as that on DNS lookups, apply per partition. */
  readonly partition?: string;
  /** Presented to https: destinations that request a client certificate. */
  readonly clientCertificate?: ClientCertificate;
}

/** A certificate with its private key, both in PEM. */
export interface ClientCertificate {
  /** The certificate, with its chain if it has one. */
  readonly certificate: string;
  /** The private key, not encrypted. */
  readonly key: string;
}

/** The start and duration of an attempt; durations are measured by the monotonic clock. */
export interface DeliveryTiming {
  /** Wall time of the call. */
  readonly startedAt: Instant;
  /** From the call to the response headers; null when none arrived. */
  readonly headersAfter: Milliseconds | null;
  /** From the call to the end of the attempt, in milliseconds. */
  readonly total: Milliseconds;
}

/** Any HTTP response, including 3xx (never followed), 4xx and 5xx. */
export interface DeliveryResponse {
  /** The HTTP status code. */
  readonly status: number;
  /** Lower-case name to values in order of arrival; at most 100 values and 16 KiB in all. */
  readonly headers: Readonly<Record<string, readonly string[]>>;
  /** Decoded text, invalid UTF-8 replaced, cut at a character boundary. */
  readonly body: string;
  /** Whether the body was cut at `maximumResponseBytes`. */
  readonly truncated: boolean;
  /** The address that answered, without port; null when unknown. */
  readonly address: string | null;
  /** When the request began, and how long it took. */
  readonly timing: DeliveryTiming;
}

/** There was no response. The message names scheme and host only, never path, query, userinfo or token. */
export interface DeliveryError {
  readonly type:
    | 'invalid_url'
    | 'address_forbidden'
    | 'name_not_resolved'
    | 'connect_failed'
    | 'connect_timeout'
    | 'tls_failed'
    | 'connection_reset'
    | 'total_timeout'
    | 'invalid_response'
    | 'aborted'
    /** The outbound proxy failed; the state of the destination is unknown. */
    | 'proxy_failed';
  readonly message: string;
  /** The connected address, without port; null without a connection. */
  readonly address: string | null;
  /** When the request began, and how long it took. */
  readonly timing: DeliveryTiming;
}

/**
 * Sends requests to destinations that callers choose. An adapter must refuse addresses inside the operator's network
 * (docs/guides/outbound-security.md).
 */
export interface HttpDelivery {
  /** One attempt: no retry, no redirect. */
  send(request: DeliveryRequest): ResultAsync<DeliveryResponse, DeliveryError>;
  /**
   * Checks a URL before anything is sent: scheme, host and, for an address literal, the outbound rules. A host name is
   * checked when it is resolved. A refusal gives the reason in a sentence.
   */
  check(url: string): { readonly allowed: true } | { readonly allowed: false; readonly message: string };
  /** Closes the connections; later calls of `send` fail. */
  close(): Promise<void>;
}
