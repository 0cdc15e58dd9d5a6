import { request } from 'node:http';
import { request as secureRequest } from 'node:https';
import { connect } from 'node:net';
import { StringDecoder } from 'node:string_decoder';
import type { CheckResult } from '../../../src/agent/checks/check-state.js';
import type { ServiceCheck } from '../../../src/jobs/document/service.js';
import { millisecondsFromNanos, timerOf } from '../../../src/shared/duration.js';

/** The most bytes of a response that are kept as output. */
const maximumOutput = 3 * 1024;

interface Endpoint {
  readonly address: string;
  readonly port: number;
}

/** Runs a check once. Its type is case-insensitive. Never rejects. */
export function runCheck(check: ServiceCheck, endpoint: Endpoint): Promise<CheckResult> {
  const timeout = Math.max(1, millisecondsFromNanos(check.Timeout));
  return check.Type.toLowerCase() === 'http' ? lookByHttp(check, endpoint, timeout) : lookByTcp(endpoint, timeout);
}

function lookByTcp({ address, port }: Endpoint, timeout: number): Promise<CheckResult> {
  return new Promise((resolve) => {
    const socket = connect({ host: address, port, timeout });
    const end = (passed: boolean, output: string): void => {
      socket.destroy();
      resolve({ passed, output, statusCode: 0 });
    };
    socket.once('connect', () => end(true, 'nomad: tcp ok'));
    socket.once('timeout', () => end(false, `connecting to ${address}:${port} timed out`));
    socket.once('error', (error) => end(false, error.message));
  });
}

/** The beginning of a response as a string, without a truncated last character. */
function outputOf(pieces: readonly Buffer[]): string {
  const text = beginningOf(Buffer.concat(pieces));
  // Invalid UTF-8 bytes become replacement characters of three bytes.
  return beginningOf(Buffer.from(text));
}

function beginningOf(bytes: Buffer): string {
  return new StringDecoder('utf8').write(bytes.subarray(0, maximumOutput));
}

function lookByHttp(check: ServiceCheck, { address, port }: Endpoint, timeout: number): Promise<CheckResult> {
  const make = check.Protocol === 'https' ? secureRequest : request;
  const options = {
    host: address,
    port,
    path: check.Path === '' ? '/' : check.Path,
    method: check.Method === '' ? 'GET' : check.Method,
    headers: Object.fromEntries(Object.entries(check.Header ?? {}).map(([name, values]) => [name, [...values]])),
    rejectUnauthorized: !check.TLSSkipVerify,
    ...(check.TLSServerName === '' ? {} : { servername: check.TLSServerName }),
    agent: false as const,
    signal: AbortSignal.timeout(timerOf(timeout)),
  };
  return new Promise((resolve) => {
    const failed = (error: unknown): void =>
      resolve({ passed: false, output: error instanceof Error ? error.message : 'failed', statusCode: 0 });
    let isAnswered = false;
    try {
      const asked = make(options, (answer) => {
        isAnswered = true;
        const statusCode = answer.statusCode ?? 0;
        const pieces: Buffer[] = [];
        let size = 0;
        const end = (): void =>
          resolve({ passed: statusCode >= 200 && statusCode < 400, output: outputOf(pieces), statusCode });
        answer.on('data', (piece: Buffer) => {
          pieces.push(piece);
          size += piece.length;
          if (size >= maximumOutput) answer.destroy();
        });
        answer.once('close', end);
        answer.once('error', failed);
      });
      asked.on('error', failed);
      // A protocol upgrade (101) emits neither a response nor an error: the request just closes.
      asked.once('close', () => {
        if (!isAnswered) failed(new Error('invalid HTTP response'));
      });
      asked.end(check.Body === '' ? undefined : check.Body);
    } catch (error) {
      failed(error);
    }
  });
}
