import type { MessageContext } from '../message-context.js';

/** One line that says what happened and where. */
export function headline(context: MessageContext): string {
  const { subject, workspace, configuration } = context;
  if (subject.kind === 'verification' || workspace === null) return `Verification of ${configuration.name}`;
  const place = `${workspace.organization}/${workspace.name}`;
  return subject.kind === 'run' ? `${place} ${subject.runId}: ${subject.message}` : `${place}: ${subject.message}`;
}
