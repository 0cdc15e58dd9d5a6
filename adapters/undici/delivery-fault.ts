import type { DeliveryError } from '../../src/ports/http-delivery.js';
import { codeOf } from '../../src/shared/values.js';

export type FaultType = DeliveryError['type'];

/** A fault without the host: its message is the second part of the message of a delivery error. */
export interface Fault {
  readonly type: FaultType;
  readonly message: string;
}

const carrier = Symbol('fault');

/** An `Error` that passes a fault through the callbacks of sockets and undici. */
export function faultError(type: FaultType, message: string): Error {
  return Object.assign(new Error(message), { [carrier]: { type, message } satisfies Fault });
}

/** The phase of the exchange in which the error occurred. */
export type Phase = 'connecting' | 'handshaking' | 'tunnelled' | 'exchanging';

/**
 * The fault behind an error of Node or undici. Messages contain only the codes: the messages of these errors may contain addresses
 * and certificates of third parties.
 */
export function faultFromError(error: unknown, phase: Phase): Fault {
  if (typeof error !== 'object' || error === null) return { type: 'connection_reset', message: closedEarly };
  if (carrier in error) return error[carrier] as Fault;
  const code = codeOf(error);
  const shown = code === '' ? '' : ` (${code})`;
  if (code === 'UND_ERR_INVALID_ARG' || code === 'UND_ERR_NOT_SUPPORTED') {
    return {
      type: 'invalid_url',
      message: `the request cannot be sent: its path or one of its headers is invalid${shown}`,
    };
  }
  if (phase === 'handshaking' || isTlsCode(code))
    return { type: 'tls_failed', message: `the TLS handshake failed${shown}` };
  if (isBadAnswer(error, code)) {
    return { type: 'invalid_response', message: `invalid HTTP response${shown}` };
  }
  if (phase === 'exchanging') return { type: 'connection_reset', message: `${closedEarly}${shown}` };
  if (code === 'ETIMEDOUT') return { type: 'connect_timeout', message: `the host did not answer${shown}` };
  return { type: 'connect_failed', message: `could not connect${shown}` };
}

const closedEarly = 'the connection was closed before the answer was complete';

function isTlsCode(code: string): boolean {
  return /^(ERR_TLS|ERR_SSL|CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|HOSTNAME_MISMATCH|INVALID_CA|EPROTO$)/.test(code);
}

/** undici's codes for an answer that cannot be parsed, has too long headers, or does not have the announced length. */
function isBadAnswer(error: object, code: string): boolean {
  if (code.startsWith('HPE_') || code.startsWith('UND_ERR_RES') || code === 'UND_ERR_HEADERS_OVERFLOW') return true;
  if ('name' in error && error.name === 'HTTPParserError') return true;
  // An unrequested upgrade, or bytes before there is a request, are a socket error with one of these strings.
  return 'message' in error && (error.message === 'bad response' || error.message === 'bad upgrade');
}
