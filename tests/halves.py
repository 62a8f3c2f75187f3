"""Which half of the suite a test is in: `make test` gates every change, `make test-all` runs all there is.

A test belongs to `make test` unless it is named here, or has the marker `whole` where it stands. What is named is a file, a folder, a
test or one of its cases; the longest name that fits decides. What may have the machine to itself bears `alone`, and is run last, one
after the other.
"""

from __future__ import annotations

from enum import Enum, auto

from tests.effort import is_due, today
from tests.law.constructs import first_cases


class Half(Enum):
    """When a test is run by `make test`."""

    ALWAYS = auto()
    IN_TURN = auto()
    """Each of its cases on one day of five: the cases are alike, and what they have in common is tested every day."""
    CONSTRUCTS = auto()
    """Of the cases of the law those that docs/sql.md names first for a construct; the others in turn."""
    NEVER = auto()


HALVES = {
    # Crossings of faults, seeds of attacks, what looks for days of fire.
    "tests/attack": Half.NEVER,
    "tests/fire": Half.NEVER,
    "tests/fuzz/test_queries.py::test_spark_agrees": Half.NEVER,
    # More kills, hangs, outages and clusters than one of each kind, and what waits for long.
    "tests/connectors/test_kafka.py::test_a_commit_that_fails_is_told_and_made_good": Half.NEVER,
    "tests/connectors/test_kafka.py::test_a_restart_of_the_broker_loses_nothing": Half.NEVER,
    "tests/connectors/test_kafka_publisher.py": Half.NEVER,
    "tests/connectors/test_kafka_publisher.py::test_a_killed_task_goes_on_and_a_zombie_is_fenced": Half.ALWAYS,
    "tests/connectors/test_kafka_publisher.py::test_another_run_has_epochs_of_its_own": Half.IN_TURN,
    "tests/connectors/test_kafka_publisher.py::test_records_are_those_of_the_sink": Half.IN_TURN,
    "tests/connectors/test_kestrel_wire.py": Half.IN_TURN,
    "tests/connectors/test_postgres_publisher.py": Half.IN_TURN,
    "tests/connectors/test_postgres_publisher.py::test_each_row_is_there_once_however_often_tasks_die": Half.NEVER,
    "tests/connectors/test_postgres_publisher.py::test_each_row_is_there_once_though_the_server_dies": Half.NEVER,
    "tests/connectors/test_redis_publisher.py": Half.IN_TURN,
    "tests/connectors/test_redis_publisher.py::test_each_row_is_there_once_however_often_tasks_die": Half.NEVER,
    "tests/connectors/test_redis_publisher.py::test_each_row_is_there_once_though_the_server_dies": Half.NEVER,
    "tests/spark/batch/test_partitions.py::test_both_read_values_of_the_types_that_are_declared": Half.IN_TURN,
    "tests/spark/batch/test_partitions.py::test_both_refuse_a_value_that_the_column_cannot_have": Half.IN_TURN,
    "tests/spark/streaming/test_partitions.py": Half.IN_TURN,
    "tests/functions/test_zones.py::test_what_clocks_show": Half.IN_TURN,
    "tests/operators/test_local_windows.py::test_days_of_all_zones": Half.IN_TURN,
    "tests/law/test_kafka_outage.py": Half.NEVER,
    "tests/law/test_kills.py::test_every_row_comes_at_least_once_though_a_process_died": Half.NEVER,
    "tests/law/test_kills.py::test_windows_are_right_though_a_process_died": Half.IN_TURN,
    # The pages as a site take half a minute to build.
    "tests/house/test_site.py::test_the_site_is_built_without_a_warning_and_loads_nothing_from_elsewhere": Half.NEVER,
    # What needs an S3 server, which takes minutes to build.
    "tests/checkpoints/test_s3.py": Half.NEVER,
    "tests/checkpoints/test_s3.py::test_a_store_that_ignores_conditions_is_refused_before_anything_is_kept": Half.ALWAYS,
    "tests/process/test_epochs_s3.py": Half.NEVER,
    "tests/cli/test_default_epochs.py": Half.IN_TURN,
    "tests/cli/test_lag.py": Half.IN_TURN,
    "tests/process/test_default_epochs.py": Half.IN_TURN,
    "tests/process/test_effectively_once.py": Half.IN_TURN,
    "tests/process/test_full_disk.py": Half.IN_TURN,
    # Of each kind of process one is killed, and one hangs, every day; the others of its kind in turn.
    "tests/process/test_heron.py::test_a_quiet_run_loses_and_doubles_nothing": Half.IN_TURN,
    "tests/process/test_heron.py::test_a_kill_under_load_loses_nothing[1/instance-1]": Half.IN_TURN,
    "tests/process/test_heron.py::test_a_kill_under_load_loses_nothing[1/instance-5]": Half.IN_TURN,
    "tests/process/test_heron.py::test_a_kill_under_load_loses_nothing[0/executor]": Half.IN_TURN,
    "tests/process/test_heron.py::test_a_process_that_hangs_is_noticed": Half.IN_TURN,
    "tests/process/test_heron.py::test_a_process_that_hangs_is_noticed[1/instance-3]": Half.ALWAYS,
    "tests/process/test_heron.py::test_nothing_outlives_the_server_though_it_is_stopped": Half.IN_TURN,
    "tests/process/test_heron.py::test_nothing_outlives_the_server_though_it_is_stopped[1/instance-3]": Half.ALWAYS,
    "tests/process/test_heron.py::test_the_topology_ends_with_its_client[the_server_is_stopped]": Half.IN_TURN,
    "tests/process/test_heron.py::test_a_bolt_that_never_stays_up_fails_the_topology": Half.NEVER,
    "tests/process/test_overload.py::test_a_starved_stream_manager_is_not_killed": Half.NEVER,
    "tests/process/test_own_state.py": Half.IN_TURN,
    "tests/process/test_slow_sinks.py": Half.NEVER,
    "tests/process/test_new_start.py::test_where_a_run_began_it_begins_anew_though_it_has_committed_offsets_since": Half.IN_TURN,
    "tests/process/test_sql_kills.py": Half.IN_TURN,
    "tests/process/test_sql_kills.py::test_tasks_with_state_die_where_nobody_has_set_anything_and_every_window_is_right": Half.ALWAYS,
    "tests/process/test_master_processes.py": Half.IN_TURN,
    "tests/process/test_masters.py::test_a_fence_that_is_missing_is_noticed": Half.IN_TURN,
    "tests/process/test_outages.py": Half.IN_TURN,
    "tests/process/test_standby.py": Half.IN_TURN,
    "tests/process/test_standby.py::test_a_standby_takes_over_from_a_leader_that_is_killed_and_counts_are_exact": Half.ALWAYS,
    "tests/reconcile/test_kills.py": Half.NEVER,
    "tests/reconcile/test_kills.py::test_every_example_reconciles_after_kills": Half.IN_TURN,
    "tests/spark/batch/test_cluster.py": Half.NEVER,
    "tests/spark/batch/test_jobs.py": Half.NEVER,
    "tests/spark/batch/test_managed.py": Half.NEVER,
    "tests/spark/streaming/test_cluster.py": Half.NEVER,
    "tests/spark/streaming/test_kill.py": Half.NEVER,
    "tests/spark/streaming/test_s3.py": Half.NEVER,
    # Each way to starve; 300 tasks on two cores are there every day.
    "tests/protocol/cluster/test_overload.py": Half.IN_TURN,
    "tests/protocol/cluster/test_overload.py::test_of_300_tasks_on_two_cores_the_one_that_hangs_is_killed_and_no_other": Half.ALWAYS,
    # Spark's streams, and files and tables as Spark sees them.
    "tests/law/test_structured.py": Half.IN_TURN,
    "tests/spark/batch/test_delta.py": Half.IN_TURN,
    "tests/spark/batch/test_iceberg.py": Half.IN_TURN,
    "tests/law/test_nexmark.py::test_streams_of_spark_agree_with_duckdb": Half.NEVER,
    "tests/law/test_ways.py::test_no_case_of_the_law_has_one_in_another_way": Half.NEVER,
    "tests/spark/batch/test_readers.py": Half.IN_TURN,
    "tests/spark/streaming/test_late_tables.py": Half.IN_TURN,
    "tests/spark/streaming/test_late_tables.py::test_a_row_is_in_the_answer_or_among_the_late_ones[window]": Half.ALWAYS,
    "tests/spark/streaming/test_replays.py": Half.IN_TURN,
    "tests/spark/streaming/test_examples.py": Half.IN_TURN,
    # Updates of topologies, in the simulator and with real processes.
    "tests/cli/test_evolution.py": Half.IN_TURN,
    "tests/cli/test_update.py": Half.IN_TURN,
    # A load that is watched for minutes.
    "tests/cli/test_health_load.py": Half.NEVER,
    "tests/cli/test_savepoints.py": Half.IN_TURN,
    "tests/cli/test_savepoints.py::test_runs_go_on_to_the_end_as_if_nothing_had_been_as_often_as_they_are_started": Half.NEVER,
    "tests/cli/test_savepoints.py::test_what_was_counted_before_a_savepoint_is_counted_after_it": Half.ALWAYS,
    "tests/planner/test_evolution.py::test_every_query_is_what_it_was": Half.IN_TURN,
    "tests/simulator/test_evolution.py": Half.IN_TURN,
    "tests/simulator/test_filling.py": Half.IN_TURN,
    "tests/simulator/test_thousand_rescales.py": Half.NEVER,
    # Whole clusters: of longer runs, and of edges, a fifth each day.
    "tests/simulator/clusters/test_clusters.py::test_the_answer_is_exact_in_longer_runs": Half.IN_TURN,
    "tests/simulator/clusters/test_edges.py": Half.IN_TURN,
    # The same queries and aggregates on more engines.
    "tests/functions/test_aggregates_differential.py": Half.IN_TURN,
    # A sample of the law where rows are published with epochs, and where numbers of tasks change.
    "tests/law/test_effectively_once.py::test_each_row_is_published_once": Half.NEVER,
    "tests/law/test_effectively_once.py::test_each_row_is_published_once[unnest_then_filter]": Half.ALWAYS,
    "tests/law/test_effectively_once.py::test_each_row_is_published_once[told_early_and_corrected]": Half.ALWAYS,
    "tests/law/test_effectively_once.py::test_each_row_is_published_once[join_inner]": Half.ALWAYS,
    "tests/functions/test_filter_guards.py": Half.IN_TURN,
    "tests/law/test_epochs.py::test_what_dies_comes_back_from_an_epoch": Half.IN_TURN,
    "tests/law/test_rescale.py::test_other_numbers_of_tasks_give_the_same_answer": Half.NEVER,
    "tests/law/test_rescale.py::test_other_numbers_of_tasks_give_the_same_answer[tumble_by_key]": Half.ALWAYS,
    "tests/law/test_rescale.py::test_other_numbers_of_tasks_give_the_same_answer[join_inner]": Half.ALWAYS,
    "tests/planner/test_rescaling.py::test_what_a_node_says_is_what_its_operator_keeps": Half.IN_TURN,
    "tests/law/test_heron.py": Half.IN_TURN,
    # Every case is run with two seeds in the simulator. On each other engine each construct is run every day.
    "tests/law/test_memory.py::test_the_memory_engine_agrees_with_the_oracle": Half.CONSTRUCTS,
    "tests/law/test_spark.py::test_spark_agrees_with_the_oracle": Half.CONSTRUCTS,
    "tests/law/test_nexmark.py::test_spark_agrees_with_duckdb": Half.IN_TURN,
    "tests/law/test_bench.py": Half.IN_TURN,
    # What starts Spark or processes for one property more; smoke of each is in other files.
    "tests/cli/test_cookbook_commands.py": Half.IN_TURN,
    "tests/cli/test_processes.py::test_a_pipe_that_nobody_reads_slows_the_run_down": Half.IN_TURN,
    "tests/cli/test_processes.py::test_closed_standard_streams_take_no_other_file": Half.IN_TURN,
    "tests/dsl/test_graphs.py::test_every_graph_gives_on_spark_what_it_gives_in_memory": Half.IN_TURN,
    "tests/dsl/test_graphs.py::test_graphs_give_as_processes_what_they_give_in_memory": Half.IN_TURN,
    "tests/dsl/test_tutorial.py": Half.IN_TURN,
    "tests/dsl/test_typing.py": Half.IN_TURN,
    "tests/extending/test_functions.py::test_a_batch_job_computes_them": Half.IN_TURN,
    "tests/extending/test_functions.py::test_structured_streaming_computes_them": Half.IN_TURN,
    "tests/fuzz/test_grouping.py::test_the_batch_job_agrees_with_the_oracle": Half.IN_TURN,
    "tests/house/test_docs.py::test_topologies_in_the_docs_run": Half.IN_TURN,
    "tests/house/test_editable.py": Half.IN_TURN,
    "tests/sql/test_cookbook.py::test_the_answer_is_the_one_shown": Half.IN_TURN,
    "tests/law/test_kafka_restart.py": Half.IN_TURN,
    "tests/process/test_life.py::test_a_beat_is_never_read_in_part": Half.IN_TURN,
    "tests/process/test_live_record.py": Half.IN_TURN,
    "tests/process/test_many_files.py": Half.IN_TURN,
    "tests/process/test_shadows.py": Half.IN_TURN,
    "tests/process/test_slow_code.py": Half.IN_TURN,
    "tests/process/test_state.py::test_a_topology_on_an_ensemble_outlives_its_leader_and_a_topology_master": Half.IN_TURN,
    "tests/spark/batch/test_kafka.py": Half.IN_TURN,
    "tests/spark/batch/test_kafka.py::test_a_topic_in_spark": Half.ALWAYS,
    "tests/spark/lowering/test_streaming_checks.py::test_spark_refuses_nothing_that_was_let_through": Half.IN_TURN,
    "tests/spark/streaming/test_run.py": Half.IN_TURN,
    "tests/spark/streaming/test_spark_files.py": Half.IN_TURN,
    "tests/spark/streaming/test_spark_files.py::test_a_run_goes_on_from_its_checkpoint": Half.ALWAYS,
    "tests/spark/streaming/test_run.py::test_a_run_without_end_is_paused_resumed_and_stopped": Half.ALWAYS,
    # Planted faults, all of which reconciliation must find.
    "tests/reconcile/test_changes.py": Half.IN_TURN,
    "tests/reconcile/test_classes.py": Half.IN_TURN,
    "tests/reconcile/test_cut.py": Half.IN_TURN,
    "tests/reconcile/test_faults.py": Half.IN_TURN,
    "tests/reconcile/test_forgers.py": Half.IN_TURN,
    "tests/reconcile/test_forgers.py::test_a_part_of_a_group_is_excused_only_with_what_some_of_its_rows_can_give": Half.ALWAYS,
    "tests/reconcile/test_fuzz.py": Half.IN_TURN,
    "tests/reconcile/test_fuzz_queries.py": Half.IN_TURN,
    "tests/reconcile/test_joined.py": Half.IN_TURN,
    "tests/reconcile/test_late_values.py": Half.IN_TURN,
    "tests/reconcile/test_live.py": Half.IN_TURN,
    "tests/reconcile/test_parts.py": Half.IN_TURN,
    "tests/reconcile/test_planted.py": Half.IN_TURN,
    "tests/reconcile/test_rolled_back.py": Half.NEVER,
    "tests/reconcile/test_statement.py::test_a_run_that_goes_on_is_watched_to_its_end": Half.IN_TURN,
    "tests/reconcile/test_runs.py": Half.IN_TURN,
    "tests/reconcile/test_runs.py::test_rows_dropped_as_late_are_found_in_the_record_and_explain_all": Half.ALWAYS,
    "tests/reconcile/test_runs.py::test_the_command_reconciles_a_recorded_run": Half.ALWAYS,
    "tests/reconcile/test_verdicts.py": Half.IN_TURN,
    # A browser takes seconds to start; the pages themselves are parsed every day.
    "tests/tracker/test_browser.py": Half.IN_TURN,
    "tests/tracker/test_layout.py": Half.IN_TURN,
    # Real topologies under a server of pages that is killed again and again.
    "tests/tracker/test_killed_ui.py": Half.NEVER,
    "tests/tracker/test_estimates.py::test_a_query_is_sampled": Half.IN_TURN,
}

ALONE = (
    "tests/attack",
    "tests/cli/test_default_epochs.py",
    "tests/cli/test_health_load.py",
    "tests/cli/test_update.py",
    "tests/fire",
    "tests/law/test_kafka_outage.py",
    "tests/law/test_kafka_restart.py",
    "tests/law/test_kills.py",
    "tests/process/test_default_epochs.py",
    "tests/process/test_effectively_once.py",
    "tests/process/test_effectively_once_servers.py",
    "tests/process/test_epochs.py",
    "tests/process/test_epochs_kafka.py",
    "tests/process/test_epochs_s3.py",
    "tests/process/test_full_disk.py",
    "tests/process/test_heron.py",
    "tests/process/test_master_processes.py",
    "tests/process/test_outages.py",
    "tests/process/test_pauses.py",
    "tests/process/test_quarantine.py",
    "tests/process/test_slow_code.py",
    "tests/process/test_slow_sinks.py",
    "tests/process/test_sql_kills.py",
    "tests/process/test_standby.py",
    "tests/process/test_state.py::test_a_topology_on_an_ensemble_outlives_its_leader_and_a_topology_master",
    "tests/process/test_waiting.py",
    "tests/reconcile/test_kills.py",
    "tests/reconcile/test_rolled_back.py",
    "tests/spark/streaming/test_cluster.py",
    "tests/spark/streaming/test_kill.py",
    "tests/spark/streaming/test_s3.py",
    "tests/tracker/test_killed_ui.py",
)
"""What kills, hangs, pauses or floods processes: beside others it makes the load under which it fails."""


def fits(name: str, nodeid: str) -> bool:
    """Whether a file, a folder or a test is, or holds, the test of this id."""
    return nodeid.startswith(name) and nodeid[len(name) : len(name) + 1] in ("", "/", ":", "[")


def holds_alone(path: str) -> bool:
    """Whether a file holds a test that ALONE names."""
    return any(fits(name, path) or fits(path, name) for name in ALONE)


def half_of(nodeid: str) -> Half:
    """When `make test` runs a test: what the longest name says that fits its id."""
    named = [name for name in HALVES if fits(name, nodeid)]
    return HALVES[max(named, key=len)] if named else Half.ALWAYS


def is_of_the_whole(nodeid: str, day: int) -> bool:
    """Whether on this day only `make test-all` runs the test."""
    half = half_of(nodeid)
    if half is Half.CONSTRUCTS and nodeid.partition("[")[2].removesuffix("]") not in first_cases():
        half = Half.IN_TURN
    return half is Half.NEVER or (half is Half.IN_TURN and not is_due(nodeid, day))


def markers_of(nodeid: str) -> list[str]:
    """The markers that a test has for being named here."""
    of_the_whole = ["whole"] if is_of_the_whole(nodeid, today()) else []
    return of_the_whole + (["alone"] if any(fits(name, nodeid) for name in ALONE) else [])
