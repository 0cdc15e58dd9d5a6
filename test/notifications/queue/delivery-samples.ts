import type { FailureClass } from '../../../src/notifications/delivery/classify-failure.js';
import type { Delivery } from '../../../src/notifications/delivery/delivery.js';
import type { AttemptReport } from '../../../src/notifications/delivery/transition-delivery.js';

export function delivery(sequence: number, run: string | null, overrides: Partial<Delivery> = {}): Delivery {
  return {
    configurationId: 'nc-1',
    sequence,
    id: `nd-${sequence}`,
    eventId: `ne-${sequence}`,
    workspaceId: 'ws-1',
    kind: 'generic',
    trigger: 'run:errored',
    orderKey: run,
    createdAt: sequence,
    state: { type: 'waiting', dueAt: 1, attempted: 0 },
    attempts: [],
    ...overrides,
  };
}

export function report(failure: FailureClass | null = null, status: number | null = null): AttemptReport {
  return {
    attempt: {
      startedAt: 0,
      headersAfter: null,
      total: 5,
      destination: '',
      address: null,
      status,
      headers: {},
      body: '',
      truncated: false,
      failure: failure === null ? null : { class: failure, message: '' },
    },
    failure: failure === null ? null : { class: failure, permanent: false, message: '' },
    retryAfter: null,
    body: '{}',
    recipients: null,
  };
}
