// The output of the demo.
import { createServer } from 'node:net';

export function section(title) {
  console.log(`\n== ${title}`);
}

export function step(text) {
  console.log(`   · ${text}`);
}

export function check(holds, text) {
  console.log(`   ${holds ? '✓' : '✗'} ${text}`);
  if (!holds) throw new Error(`not true: ${text}`);
}

/** Polls until the condition holds. */
export async function until(holds, text, seconds = 30) {
  const end = Date.now() + seconds * 1000;
  while (!holds()) {
    if (Date.now() > end) throw new Error(`no result within ${seconds} s: ${text}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  console.log(`   ✓ ${text}`);
}

/** A port of this host without a listener. */
export async function closedPort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}
