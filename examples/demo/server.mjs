// The server as users run it: a separate process, ended only by signals.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const command = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));

export async function startServer(folder, seed) {
  const options = [
    '--listen',
    '127.0.0.1:0',
    '--store',
    `sqlite:${join(folder, 'demo.sqlite')}`,
    '--access',
    'open',
    '--allow-outbound',
    '127.0.0.0/8',
    '--seed',
    seed,
  ];
  const child = spawn(process.execPath, [command, 'serve', ...options], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit').then(() => true);
  const lines = createInterface({ input: child.stdout });
  const [first] = await Promise.race([once(lines, 'line'), ended.then(() => ['(ended)'])]);
  const origin = /^listening on (http:\S+)$/.exec(first)?.[1];
  if (origin === undefined) throw new Error(`the server did not start: ${first}`);
  return {
    origin,
    kill: () => child.kill('SIGKILL'),
    ended: () => ended,
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
    },
    api: async (method, path, body) => {
      const request =
        body === undefined
          ? { method }
          : { method, body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
      const answer = await fetch(origin + path, request);
      const text = await answer.text();
      return { status: answer.status, body: text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : text };
    },
  };
}
