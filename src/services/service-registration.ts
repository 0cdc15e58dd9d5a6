import { table } from '../shared/table.js';

/** The address of one instance of a service (job interface, ServiceRegistration). */
export interface ServiceRegistration {
  readonly ID: string;
  readonly ServiceName: string;
  readonly Namespace: string;
  readonly NodeID: string;
  readonly Datacenter: string;
  readonly JobID: string;
  readonly AllocID: string;
  readonly Tags: readonly string[];
  readonly Address: string;
  /** 0 for a service without a port. */
  readonly Port: number;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
}

export const serviceRegistrations = table<ServiceRegistration>(
  'service_registrations',
  (registration) => [registration.Namespace, registration.ServiceName, registration.ID],
  {
    by_allocation: { version: 1, key: (registration) => [registration.AllocID, registration.ID] },
    by_job: { version: 1, key: (registration) => [registration.Namespace, registration.JobID, registration.ID] },
  },
);

/** The list of services: the services of a namespace by name, with the tags of all their instances. */
export interface ServiceNamespaceStub {
  readonly Namespace: string;
  readonly Services: readonly { readonly ServiceName: string; readonly Tags: readonly string[] }[];
}

export function serviceList(registrations: readonly ServiceRegistration[]): readonly ServiceNamespaceStub[] {
  const namespaces = new Map<string, Map<string, Set<string>>>();
  for (const { Namespace, ServiceName, Tags } of registrations) {
    const services = namespaces.get(Namespace) ?? new Map<string, Set<string>>();
    namespaces.set(Namespace, services.set(ServiceName, new Set([...(services.get(ServiceName) ?? []), ...Tags])));
  }
  return [...namespaces].map(([Namespace, services]) => ({
    Namespace,
    Services: [...services].map(([ServiceName, tags]) => ({ ServiceName, Tags: [...tags].sort() })),
  }));
}

/** Selects some instances of a service for one reader: the same ones for the same key, as long as they exist. */
export function chooseInstances<T extends Pick<ServiceRegistration, 'ID'>>(
  instances: readonly T[],
  count: number,
  key: string,
): readonly T[] {
  return [...instances]
    .sort((left, right) => weight(key, left.ID) - weight(key, right.ID) || (left.ID < right.ID ? -1 : 1))
    .slice(0, count);
}

/** FNV-1a of both strings. */
function weight(key: string, id: string): number {
  let hash = 0x811c9dc5;
  for (const character of `${key}/${id}`) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  return hash;
}
