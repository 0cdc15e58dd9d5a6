# A job that is dispatched: each dispatch is one run of a real process.
variable "marks" {
  type        = string
  description = "Directory in which every run leaves one line for each time it was started."
}

job "report" {
  type        = "batch"
  datacenters = ["*"]

  parameterized {
    payload       = "required"
    meta_required = ["customer"]
  }

  meta {
    team = "reports"
  }

  group "render" {
    # What fails is not tried again here: the demo shows how the team hears of it.
    restart {
      attempts = 0
      mode     = "fail"
    }

    reschedule {
      attempts  = 0
      unlimited = false
    }

    task "render" {
      driver = "raw_exec"

      config {
        command = "/bin/sh"
        args = ["-c", <<-SCRIPT
          echo started >> "${var.marks}/$NOMAD_META_customer"
          read -r seconds outcome < local/order
          sleep "$seconds"
          echo "report for $NOMAD_META_customer: $outcome"
          [ "$outcome" = good ]
        SCRIPT
        ]
      }

      dispatch_payload {
        file = "order"
      }

      resources {
        cpu    = 50
        memory = 32
      }
    }
  }
}
