import { wellFormed } from '../../shared/values.js';
import type { WorkspaceNames } from '../workspace.js';

/** The public address of the service. */
export interface PublicEndpoint {
  /** Without a trailing slash. */
  readonly publicOrigin: string;
  /** Mount path of the notification interface, empty or beginning with a slash. */
  readonly basePath: string;
}

/** The path of a configuration in the notification interface, beginning with the mount path. */
export function configurationPath(endpoint: PublicEndpoint, configurationId: string): string {
  return `${endpoint.basePath}/notification-configurations/${encodeURIComponent(configurationId)}`;
}

/** The URL of a configuration in the notification interface, at the public origin of the service. */
export function configurationUrl(endpoint: PublicEndpoint, configurationId: string): string {
  return endpoint.publicOrigin + configurationPath(endpoint, configurationId);
}

/** The page of a job's run, from the template. Null without a template. */
export function runUrl(
  template: string,
  { publicOrigin }: Pick<PublicEndpoint, 'publicOrigin'>,
  run: { readonly namespace: string; readonly jobId: string; readonly runId: string },
): string | null {
  if (template === '') return null;
  const { namespace, jobId: job, runId } = run;
  const parts: Readonly<Record<string, string>> = { namespace, job, run: runId, id: runId };
  return template.replaceAll(/\{(origin|namespace|job|run|id)\}/g, (_, name: string) =>
    name === 'origin' ? publicOrigin : encoded(parts[name] ?? ''),
  );
}

/** URL of a task's error stream. */
export function errorOutputUrl(
  { publicOrigin }: Pick<PublicEndpoint, 'publicOrigin'>,
  allocationId: string,
  task: string,
): string {
  const path = `/v1/client/fs/logs/${encodeURIComponent(allocationId)}`;
  return `${publicOrigin}${path}?task=${encoded(task)}&type=stderr&plain=true`;
}

/** The workspace's page: that of the host, if given. */
export function workspaceUrl(endpoint: PublicEndpoint, workspace: WorkspaceNames): string {
  const { organization, name } = workspace;
  return workspace.url ?? `${endpoint.publicOrigin}/app/${encoded(organization)}/workspaces/${encoded(name)}`;
}

/** Percent-encodes a string; lone surrogates, which are invalid in URLs, become the replacement character. */
function encoded(text: string): string {
  return encodeURIComponent(wellFormed(text));
}
