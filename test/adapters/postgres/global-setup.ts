import type { TestProject } from 'vitest/node';
import { postgresServer } from './postgres-server.js';

declare module 'vitest' {
  export interface ProvidedContext {
    /** A database of a server that all tests share: each uses schemas of its own. */
    postgres: string;
  }
}

export default async function setUp(project: TestProject): Promise<() => void> {
  // What survives a power failure is not a matter of these tests.
  const server = await postgresServer(['-c max_connections=400', '-c fsync=off']);
  project.provide('postgres', server.url);
  return () => server.remove();
}
