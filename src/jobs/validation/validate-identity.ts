import { identityBlock } from '../document/fields/identity-fields.js';
import type { WorkloadIdentity } from '../document/identity.js';
import type { Task } from '../document/task.js';
import { choiceProblem } from './problem-texts.js';
import { type Report, reportIf, within } from './problems.js';

export function validateIdentities(task: Task, report: Report): void {
  if (task.Identity !== null) validateIdentity(task.Identity, within(report, 'identity "default"'));
  for (const identity of task.Identities ?? []) {
    const at = within(report, 'identity', identity.Name);
    validateIdentity(identity, at);
    if (identity.Name === 'default') at('is given twice');
  }
}

function validateIdentity(identity: WorkloadIdentity, report: Report): void {
  if (!/^[A-Za-z0-9_-]{1,128}$/.test(identity.Name)) {
    report('the name must be 1 to 128 letters, digits, dashes and underscores');
  }
  for (const [index, audience] of (identity.Audience ?? []).entries()) {
    if (audience === '') report(`audience ${index + 1} must not be empty`);
  }
  validateChange(identity, report);
  if (identity.TTL < 0) report('ttl must not be negative');
  if (identity.Name === 'default' && identity.TTL > 0) report('the default identity cannot have a ttl');
  if (identity.Filepath !== '' && !identity.File) report('filepath needs file = true');
}

/** What happens to the task when a new token is made. */
function validateChange(identity: WorkloadIdentity, report: Report): void {
  switch (identity.ChangeMode) {
    case '':
    case 'noop':
    case 'restart':
      if (identity.ChangeSignal !== '') report('change_signal needs change_mode signal');
      return;
    case 'signal':
      if (identity.ChangeSignal === '') report('change_mode signal needs change_signal');
      return;
    default:
      reportIf(report, choiceProblem('change_mode', identityBlock.fields.ChangeMode, identity.ChangeMode));
  }
}
