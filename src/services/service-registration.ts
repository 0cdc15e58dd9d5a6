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
