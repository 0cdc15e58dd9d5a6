import type { WorkloadIdentity } from '../document/identity.js';
import type { Task } from '../document/task.js';
import { quoted, type Report, within } from './problem-texts.js';

export function validateIdentities(task: Task, report: Report): void {
  if (task.Identity !== null) validateIdentity(task.Identity, within(report, 'identity "default"'));
  const names = new Set<string>();
  for (const identity of task.Identities ?? []) {
    const at = within(report, 'identity', identity.Name);
    validateIdentity(identity, at);
    if (identity.Name === 'default') at('is given twice');
    else if (names.has(identity.Name)) at('the name is used twice');
    names.add(identity.Name);
  }
}

export function validateIdentity(identity: WorkloadIdentity, report: Report): void {
  if (!/^[A-Za-z0-9_-]{1,128}$/.test(identity.Name)) {
    report('the name must be 1 to 128 letters, digits, dashes and underscores');
  }
  if (identity.Audience?.some((audience) => audience === '') === true) report('an audience must not be empty');
  if (!['', 'noop', 'restart', 'signal'].includes(identity.ChangeMode)) {
    report(`change_mode must be noop, restart or signal, not ${quoted(identity.ChangeMode)}`);
  }
  if (identity.ChangeMode === 'signal' && identity.ChangeSignal === '')
    report('change_mode signal needs change_signal');
  if (identity.ChangeMode !== 'signal' && identity.ChangeSignal !== '') {
    report('change_signal needs change_mode signal');
  }
  if (identity.TTL < 0) report('ttl must not be negative');
  if (identity.Name === 'default' && identity.TTL > 0) report('the default identity takes no ttl');
  if (identity.Filepath !== '' && !identity.File) report('filepath needs file = true');
}
