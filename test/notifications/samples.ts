import type { NotificationConfiguration } from '../../src/notifications/configurations/configuration.js';
import type {
  AssessmentEvent,
  AssessmentResult,
  AutoDestroyEvent,
  RunEvent,
} from '../../src/notifications/events/event.js';
import type { Workspace } from '../../src/notifications/workspace.js';

export const workspace: Workspace = {
  id: 'ws-Qm7ZkP2sVd9XtR4b',
  name: 'net',
  organization: 'acme',
  executionMode: 'remote',
  driftDetection: true,
  healthAssessments: true,
  url: null,
  createdAt: 0,
};

export const configuration: NotificationConfiguration = {
  id: 'nc-8Kq3VwYt5LmZr2Hd',
  workspaceId: workspace.id,
  kind: 'generic',
  destinationType: 'generic',
  enabled: true,
  name: 'Deploy hook',
  token: null,
  retiredTokens: [],
  triggers: ['run:needs_attention', 'run:created', 'assessment:drifted'],
  url: { plain: 'https://hooks.example.net/tf' },
  users: [],
  response: null,
  createdAt: 0,
  updatedAt: 0,
  version: 1,
};

export const endpoint = { publicOrigin: 'https://tf.example.net', basePath: '/api/v2' };

export const runEvent: RunEvent = {
  kind: 'run',
  trigger: 'run:needs_attention',
  message: 'Run Planned - Needs Confirmation',
  runId: 'run-4bVxWqT9hLs2KdRm',
  runUrl: 'https://tf.example.net/app/acme/workspaces/net/runs/run-4bVxWqT9hLs2KdRm',
  runMessage: 'Widen the subnet',
  runCreatedAt: '2026-01-02T03:04:05.000Z',
  runCreatedBy: 'dana',
  runStatus: 'planned',
  runUpdatedAt: '2026-01-02T03:04:31.000Z',
  runUpdatedBy: null,
  speculative: false,
};

export const assessmentResult: AssessmentResult = {
  id: 'asmtres-7TqLm2XcVb9RkHsZ',
  url: 'https://tf.example.net/api/v2/assessment-results/asmtres-7TqLm2XcVb9RkHsZ',
  succeeded: true,
  drifted: true,
  all_checks_succeeded: true,
  resources_drifted: 2,
  resources_undrifted: 41,
  checks_passed: 9,
  checks_failed: 0,
  checks_errored: 0,
  checks_unknown: 0,
  created_at: '2026-01-02T04:00:00Z',
};

export const assessmentEvent: AssessmentEvent = {
  kind: 'assessment',
  trigger: 'assessment:drifted',
  message: 'Drift Detected',
  newAssessmentResult: assessmentResult,
  priorAssessmentResult: null,
};

export const reminderEvent: AutoDestroyEvent = {
  kind: 'auto_destroy',
  trigger: 'workspace:auto_destro_reminder',
  message: 'Auto Destroy Reminder',
  autoDestroyAt: '2026-01-03T00:00:00Z',
  runCreatedAt: null,
  runStatus: null,
  runExternalId: null,
  runCreateErrorMessage: null,
};

export const resultsEvent: AutoDestroyEvent = {
  ...reminderEvent,
  trigger: 'workspace:auto_destroy_run_results',
  message: 'Auto Destroy Results',
  autoDestroyAt: null,
  runCreatedAt: '2026-01-03T00:00:07Z',
  runStatus: 'applied',
  runExternalId: 'run-9sVxWqT9hLs2KdRm',
};
