import type { ResultAsync } from 'neverthrow';
import { type Engine, hostPrincipal, putNamespace, putToken, putUser, putWorkspace } from '../../src/index.js';
import type { SeedFile } from './seed-file-schema.js';
import { Stopped } from './stopped.js';

/** What is common to the errors that can come of a record of the seed. */
interface Refusal {
  readonly type: string;
  readonly message?: string;
  readonly faults?: readonly { readonly pointer: string; readonly message: string }[];
}

/**
 * Brings every record of the seed into the store, new or changed; what is there and not in the seed stays. Rejects with
 * `Stopped`, naming the record, when one is refused.
 */
export async function applySeed(engine: Engine, seed: SeedFile): Promise<void> {
  for (const [position, { name, description }] of seed.namespaces.entries()) {
    await applied(putNamespace(engine, hostPrincipal, { name, description }), `/namespaces/${position}`);
  }
  for (const [position, workspace] of seed.workspaces.entries()) {
    const { id, name, organization } = workspace;
    const input = {
      id,
      name,
      organization,
      executionMode: workspace.execution_mode,
      driftDetection: workspace.drift_detection,
      healthAssessments: workspace.health_assessments,
    };
    await applied(putWorkspace(engine, hostPrincipal, input), `/workspaces/${position}`);
  }
  for (const [position, user] of seed.users.entries()) {
    await applied(putUser(engine, hostPrincipal, user), `/users/${position}`);
  }
  for (const [position, token] of seed.tokens.entries()) {
    const namespaces = Object.fromEntries(
      Object.entries(token.namespaces).map(([glob, { capabilities, policy }]) => [
        glob,
        policy === undefined ? { capabilities } : { capabilities, policy },
      ]),
    );
    await applied(putToken(engine, hostPrincipal, { ...token, namespaces }), `/tokens/${position}`);
  }
}

async function applied<T>(done: ResultAsync<T, Refusal>, pointer: string): Promise<void> {
  const result = await done;
  if (result.isOk()) return;
  const { type, message, faults } = result.error;
  const reasons = faults?.map((fault) => pointer + fault.pointer + ': ' + fault.message).join('; ');
  throw new Stopped(`the seed file cannot be applied at ${reasons ?? `${pointer}: ${message ?? type}`}`);
}
