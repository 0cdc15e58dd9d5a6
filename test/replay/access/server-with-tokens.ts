import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serve } from '../../../adapters/cli/serve/serve.js';

export interface ServerWithTokens {
  readonly origin: string;
  /** The secret of a token that may do everything. */
  readonly management: string;
  stop(): Promise<void>;
}

/** A server in this process whose callers need tokens, as clients of the upstream use it; it shows secrets again to those who may see them. */
export async function startServerWithTokens(): Promise<ServerWithTokens> {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-access-'));
  const keyFile = join(folder, 'keys');
  writeFileSync(keyFile, `k1 ${randomBytes(32).toString('base64')}\n`, { mode: 0o600 });
  const printed: string[] = [];
  const options = ['--access', 'token', '--names', 'upstream', '--store', 'memory', '--listen', '127.0.0.1:0'];
  const server = await serve([...options, '--encryption-key-file', keyFile], {
    out: (text) => printed.push(text),
    error: () => undefined,
    colours: false,
    environment: process.env,
    read: () => Promise.reject(new Error('nothing is read')),
  });
  const management = /^management token.*: (\S+)$/m.exec(printed.join(''))?.[1] ?? '';
  const stop = async (): Promise<void> => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  return { origin: server.origin, management, stop };
}
