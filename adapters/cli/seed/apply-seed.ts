import type { ResultAsync } from 'neverthrow';
import {
  type Engine,
  hostPrincipal,
  type NamespaceInput,
  putNamespace,
  putNotificationConfiguration,
  putPolicy,
  putToken,
  putUser,
  putWorkspace,
  readNamespace,
} from '../../../src/index.js';
import { Stopped } from '../stopped.js';
import type { SeedFile } from './seed-file-schema.js';

/** The common members of errors from applying a record of the seed. */
interface Refusal {
  readonly type: string;
  readonly message?: string;
  readonly faults?: readonly { readonly pointer: string; readonly message: string }[];
}

/**
 * Creates or updates every record of the seed in the store; other records are left unchanged. Rejects with
 * `Stopped`, naming the record, if one is refused.
 */
export async function applySeed(engine: Engine, seed: SeedFile): Promise<void> {
  for (const [position, namespace] of seed.namespaces.entries()) {
    const input = await namespaceInput(engine, namespace, `/namespaces/${position}`);
    await applied(putNamespace(engine, hostPrincipal, input), `/namespaces/${position}`);
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
      url: workspace.url,
    };
    await applied(putWorkspace(engine, hostPrincipal, input), `/workspaces/${position}`);
  }
  for (const [position, user] of seed.users.entries()) {
    await applied(putUser(engine, hostPrincipal, user), `/users/${position}`);
  }
  for (const [position, { name, description, rules }] of seed.policies.entries()) {
    const input = { Name: name, Description: description, Rules: rules, JobACL: null };
    await applied(putPolicy(engine, hostPrincipal, input), `/policies/${position}`);
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
  for (const [position, configuration] of seed.configurations.entries()) {
    await applyConfiguration(engine, configuration, `/configurations/${position}`);
  }
}

/** An unreachable destination does not prevent the start: it is logged and retried at the next start. */
async function applyConfiguration(
  engine: Engine,
  { workspace, destination_type: destinationType, ...stated }: SeedFile['configurations'][number],
  pointer: string,
): Promise<void> {
  const request = { workspaceId: workspace, attributes: { destinationType, ...stated } };
  const put = await putNotificationConfiguration(engine, hostPrincipal, request);
  if (put.isErr() && put.error.type === 'verification_failed') {
    const about = { workspace, configuration: stated.name, reason: put.error.message };
    engine.logger.warn(about, 'A configuration of the seed file was not stored: its destination could not be verified');
    return;
  }
  if (put.isErr()) throw new Stopped(refused(put.error, pointer));
}

/** Applies a namespace of the file; omitted members keep their stored values. */
async function namespaceInput(
  engine: Engine,
  { name, description, meta, capabilities }: SeedFile['namespaces'][number],
  pointer: string,
): Promise<NamespaceInput> {
  const { value: stored } = await applied(readNamespace(engine, hostPrincipal, { name }), pointer);
  return {
    name,
    description: description ?? stored?.Description ?? '',
    meta: meta ?? stored?.Meta ?? null,
    capabilities:
      capabilities === undefined
        ? (stored?.Capabilities ?? null)
        : {
            EnabledTaskDrivers: capabilities.enabled_task_drivers,
            DisabledTaskDrivers: capabilities.disabled_task_drivers,
            EnabledNetworkModes: capabilities.enabled_network_modes,
            DisabledNetworkModes: capabilities.disabled_network_modes,
          },
  };
}

async function applied<T>(done: ResultAsync<T, Refusal>, pointer: string): Promise<T> {
  const result = await done;
  if (result.isOk()) return result.value;
  throw new Stopped(refused(result.error, pointer));
}

function refused({ type, message, faults }: Refusal, pointer: string): string {
  const reasons = faults?.map((fault) => `${pointer}${pointerInSeed(fault.pointer)}: ${fault.message}`);
  return `the seed file cannot be applied at ${reasons?.join('; ') ?? `${pointer}: ${message ?? type}`}`;
}

/** Converts a pointer into a request document to one into the seed file, whose configurations have another form. */
function pointerInSeed(pointer: string): string {
  return pointer.replace(/^\/data(?:\/attributes|\/relationships)?/, '').replaceAll('-', '_');
}
