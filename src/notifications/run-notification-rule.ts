/** A rule applies to a job when all its members match. */
export interface RunNotificationRule {
  /** Workspace id that receives the run events. */
  readonly workspace: string;
  /** Namespace glob; absent means every namespace. */
  readonly namespace?: string;
  /** Job id glob; a dispatched or periodic run is matched by its parent's id. */
  readonly job?: string;
  /** Meta keys and values that the job must have; the value `*` requires only the key. */
  readonly meta?: Readonly<Record<string, string>>;
}
