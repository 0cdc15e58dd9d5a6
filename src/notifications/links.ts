import type { Workspace } from './workspace.js';

/** Where the service is seen from outside. */
export interface PublicPlace {
  /** Without a trailing slash. */
  readonly publicOrigin: string;
  /** Mount path of the notification interface, empty or beginning with a slash. */
  readonly basePath: string;
}

export function configurationPath(place: PublicPlace, configurationId: string): string {
  return `${place.basePath}/notification-configurations/${encodeURIComponent(configurationId)}`;
}

export function configurationUrl(place: PublicPlace, configurationId: string): string {
  return place.publicOrigin + configurationPath(place, configurationId);
}

/** The workspace's own page when the host named one. */
export function workspaceUrl(place: PublicPlace, workspace: Workspace): string {
  const { organization, name } = workspace;
  return (
    workspace.url ??
    `${place.publicOrigin}/app/${encodeURIComponent(organization)}/workspaces/${encodeURIComponent(name)}`
  );
}
