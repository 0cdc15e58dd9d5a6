import type { RunPayload } from './run.js';

/** The body of a verification or test request: the run payload without run and workspace, whatever the configuration's triggers. */
export function verificationPayload(configurationId: string, configurationName: string): RunPayload {
  return {
    payload_version: 1,
    notification_configuration_id: configurationId,
    run_url: null,
    run_id: null,
    run_message: null,
    run_created_at: null,
    run_created_by: null,
    workspace_id: null,
    workspace_name: null,
    organization_name: null,
    notifications: [
      {
        message: `Verification of ${configurationName}`,
        trigger: 'verification',
        run_status: null,
        run_updated_at: null,
        run_updated_by: null,
      },
    ],
  };
}
