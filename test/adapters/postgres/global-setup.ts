import type { TestProject } from 'vitest/node';
import { postgresServer } from './postgres-server.js';

declare module 'vitest' {
  export interface ProvidedContext {
    /** A database of a server that all tests share: each uses schemas of its own. */
    postgres: string;
  }
}

/** `SIGNALBOX_POSTGRES_URL` names a server to test with, such as a pooler or another engine; otherwise one is started. */
export default async function setUp(project: TestProject): Promise<() => void> {
  const named = process.env['SIGNALBOX_POSTGRES_URL'];
  if (named !== undefined) {
    project.provide('postgres', named);
    return () => undefined;
  }
  // What survives a power failure is not a matter of these tests.
  const server = await postgresServer(['-c max_connections=400', '-c fsync=off']);
  project.provide('postgres', server.url);
  return () => server.remove();
}
