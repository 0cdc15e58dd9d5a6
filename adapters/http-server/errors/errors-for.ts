import type { Interface } from '../../../src/api/call.js';
import type { InterfaceErrors } from './interface-errors.js';
import { jobErrors } from './job-errors.js';
import { notificationErrors } from './notification-errors.js';
import { plainErrorsOf } from './plain-errors.js';

const ofInterface: Readonly<Record<Interface, InterfaceErrors>> = {
  jobs: jobErrors,
  system: jobErrors,
  notifications: notificationErrors,
};

const plainOfInterface: Readonly<Record<Interface, InterfaceErrors>> = {
  jobs: plainErrorsOf(jobErrors),
  system: plainErrorsOf(jobErrors),
  notifications: plainErrorsOf(notificationErrors),
};

/** The form of an interface's errors: its own or, if requested, the engine's. */
export function errorsFor(of: Interface, plain: boolean): InterfaceErrors {
  return (plain ? plainOfInterface : ofInterface)[of];
}
