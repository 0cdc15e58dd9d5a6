// The team gets a mail when a job fails. `recordingMailer` takes the place of `smtpMailer` of signalbox/smtp.
import assert from 'node:assert/strict';
import { hostPrincipal, orThrow } from 'signalbox';
import { testEngine } from 'signalbox/testing';

const report = () => {
  throw new Error('the database does not answer');
};
const runNotifications = [{ workspace: 'reports', job: 'report' }];
const world = await testEngine({ functions: { report }, settings: { runNotifications } });
const box = world.engine.as(hostPrincipal);

await orThrow(box.workspaces.put('reports', { name: 'reports', organization: 'acme' }));
await orThrow(box.users.put('dana', { username: 'dana', email: 'dana@example.org', organization: 'acme' }));
const mail = { name: 'Mail', destinationType: 'email', users: ['dana'], triggers: ['run:errored'], enabled: true };
await orThrow(box.notifications.create('reports', mail));

const once = { RestartPolicy: { Attempts: 0 }, ReschedulePolicy: { Attempts: 0, Unlimited: false } };
const task = { Name: 'report', Driver: 'function', Config: { function: 'report' } };
await orThrow(
  box.jobs.register({ ID: 'report', Type: 'batch', TaskGroups: [{ Name: 'main', ...once, Tasks: [task] }] }),
);
await world.advance(60_000);

const [message] = world.mailer.messages;
assert.match(message.text, /report/);
console.log(message.subject);
await world.stop();
