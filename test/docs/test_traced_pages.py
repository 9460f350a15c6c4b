# SPDX-License-Identifier: Apache-2.0
"""Every statement of these pages is traced to the test that shows it, or to the reason why no test can.

If you add or change a statement, trace it here; if you rename a test, rename it here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from support import ROOT

#: Reasons why no test shows a statement.
NEEDS_A_GPU = "it is about a GPU in another process, or one that has failed"
REASON = "it says why, or what to do"
BLOCK = "docs/test_docs.py::test_blocks"  # a block of the page, with what follows it, runs
AS_TRITON, PIPELINES, CHECKS = (f"tuning/test_{name}.py" for name in ("as_triton", "pipelines", "tuning_checks"))
TUNING_CACHE, EXECUTOR = "tuning/test_tuning_cache.py", "tuning/test_executor.py"
FAULTS, CPU_FAULTS = "tuning/test_tuning_faults.py", "../backends/cpu/test/test_cpu_faults.py"
BROWSER, FILES, CLAIMS = "trace/test_browser.py", "trace/test_files.py", "docs/test_claims.py"
INSTALL, SOURCES, END = (f"sdk/test_sdk_{name}.py" for name in ("install", "sources", "end_to_end"))
PRECOMPILED, SHARED = "sdk/test_sdk_precompiled.py", "build/test_shared_header.py"
VERIFIED, LIMITS = "sdk/test_sdk_verified.py", "sdk/test_sdk_limits.py"
SELFTEST, SINGLETONS = "doctor/test_selftest.py", "singletons/test_singletons.py"

#: By page: the beginning of a statement, or `...` and a later part of it, and the test that shows it.
TRACED: dict[str, dict[str, str]] = {
    "tuning.md": {
        "Whether a pass pays depends on": REASON,
        "`tx.autotune` is `triton.autotune` with": (
            f"{PIPELINES}::test_each_configuration_is_tried_with_each_pipeline_and_the_best_is_launched"
        ),
        "`softmax.py`:": BLOCK,
        "So is one on another [target]": "../backends/cpu/test/test_devices.py::test_a_kernel_is_tuned_for_each_target",
        "Pipelines that give the same binary": (
            f"{PIPELINES}::test_pipelines_that_give_the_same_binary_are_measured_once"
        ),
        "On the CPU, `num_warps` and other options": (
            "../backends/cpu/test/test_ignored_options.py::test_equal_configurations_are_tried_once"
        ),
        "The parameters up to `cache_results`": f"{AS_TRITON}::test_the_parameters_are_those_of_triton",
        "...and so are hooks, keys, the benchmarker": f"{AS_TRITON}::test_choice_keys_and_launches",
        "Without `pipelines` it is a drop-in": f"{AS_TRITON}::test_choice_keys_and_launches",
        "...compiles in parallel": f"{PIPELINES}::test_candidates_are_compiled_in_threads_before_any_is_measured",
        "...goes on when a candidate fails": f"{PIPELINES}::test_what_fails_is_reported_and_left_out",
        "Differences that a program could notice:": REASON,
        "- A configuration's `pre_hook` is called once more": (
            f"{AS_TRITON}::test_hooks_are_called_in_the_same_order_with_the_same_arguments"
        ),
        "- A candidate that does not compile, or cannot be": f"{PIPELINES}::test_what_fails_is_reported_and_left_out",
        "If all fail, `TuningError` lists": (
            f"{PIPELINES}::test_if_all_fail_the_error_says_why_each_did_and_nothing_is_remembered"
        ),
        "Triton would raise the first error": f"{AS_TRITON}::test_what_triton_does_if_all_fail",
        "- A launch with ``warmup=True``": f"{AS_TRITON}::test_warmup_compiles_each_configuration",
        "- With `reference` or `check`, one candidate": f"{CHECKS}::test_one_candidate_is_checked",
        "Triton launches it as it is.": f"{AS_TRITON}::test_one_configuration_is_not_measured",
        "The pipelines that are active around a launch": (
            f"{PIPELINES}::test_what_is_tuned_inside_of_a_pipeline_holds_there_only"
        ),
        "...and the hook of Triton's that somebody else": f"{PIPELINES}::test_a_hook_of_the_user_is_a_pipeline_too",
        "`@tx.use` above `@tx.autotune`": f"{PIPELINES}::test_use_above_and_below",
        "Within a launch, the tuned pipeline": f"{PIPELINES}::test_what_is_tuned_inside_of_a_pipeline_holds_there_only",
        "If a library in one of the pipelines is rebuilt": (
            f"{TUNING_CACHE}::test_a_process_notices_that_a_library_was_rebuilt"
        ),
        "`tx.sweep` sets the arguments": f"{PIPELINES}::test_sweep",
        "`tx.product` combines": f"{PIPELINES}::test_product",
        "`prune_configs_by` prunes configurations": f"{AS_TRITON}::test_pruning",
        "A `perf_model` with a parameter `pipeline`": f"{PIPELINES}::test_a_performance_model_may_rank_pipelines",
        '...and ``"prune_candidates"`` is a function': f"{PIPELINES}::test_pruning_of_candidates",
        "Each candidate is a `triton.Config`": f"{PIPELINES}::test_pruning_of_candidates",
        "`kernel.tuning_report` is about": f"{PIPELINES}::test_the_report_as_an_object",
        "`print` shows the table": f"{PIPELINES}::test_the_report_as_an_object",
        "``TRITON_PRINT_AUTOTUNING=1`` prints": f"{PIPELINES}::test_the_table_is_printed_on_request",
        "On a terminal there is a progress bar.": f"{PIPELINES}::test_progress_on_a_terminal_only",
        "A candidate is left out, and the report": f"{PIPELINES}::test_what_fails_is_reported_and_left_out",
        "- ``reference(arguments)`` returns, by name": f"{CHECKS}::test_a_reference_of_another_kind",
        "It gets them before anything ran": f"{CHECKS}::test_a_reference_that_works_in_place",
        "What it names is overwritten": f"{PIPELINES}::test_results_of_an_earlier_launch_do_not_count",
        "So a kernel that writes nothing": f"{PIPELINES}::test_results_of_an_earlier_launch_do_not_count",
        "Afterwards all is as it was.": f"{PIPELINES}::test_arguments_are_as_they_were_after_checks",
        "- ``check(arguments)`` looks": f"{PIPELINES}::test_check",
        "If they are wrong, it returns False": f"{PIPELINES}::test_check",
        "Anything else that it raises": f"{CHECKS}::test_a_check_that_fails_itself",
        "An error in the reference ends": f"{CHECKS}::test_a_reference_that_fails_itself",
        "A candidate that takes too long": f"{FAULTS}::test_a_compilation_that_never_ends",
        "- `compile_timeout`, by default 300": f"{FAULTS}::test_a_compilation_that_never_ends",
        "The thread is left alone": f"{FAULTS}::test_a_compilation_that_never_ends",
        "What Triton does in the calling thread": REASON,
        "- `run_timeout`, by default 120": f"{FAULTS}::test_a_measurement_that_never_ends",
        "It is looked at before each launch.": f"{FAULTS}::test_a_measurement_that_never_ends",
        "On the CPU it also ends a launch": f"{CPU_FAULTS}::test_a_time_limit_of_launches",
        "A kernel on a GPU that never ends": NEEDS_A_GPU,
        "With `workers=0` all of it is in the calling thread": (
            f"{FAULTS}::test_a_compilation_that_takes_long_in_this_thread"
        ),
        "`None` means no limit.": f"{FAULTS}::test_no_limits",
        "With an executor, a worker that holds on": f"{FAULTS}::test_who_never_ends_is_ended",
        "With `cache_results=True` or": f"{TUNING_CACHE}::test_the_second_time_nothing_is_measured",
        "...``TRITON_CACHE_AUTOTUNING=1`` a tuning is kept": f"{TUNING_CACHE}::test_the_environment_turns_it_on",
        "It is found again by the same Triton": f"{TUNING_CACHE}::test_whatever_matters_is_part_of_the_key",
        "...kernel, key, candidates": f"{TUNING_CACHE}::test_the_source_of_the_kernel_matters",
        "...the same bytes of the libraries": (
            f"{TUNING_CACHE}::test_processes_share_results_until_a_library_is_rebuilt"
        ),
        "A file is there as a whole": f"{TUNING_CACHE}::test_a_damaged_file_is_ignored_and_written_anew",
        "A damaged file is ignored": f"{TUNING_CACHE}::test_a_damaged_file_is_ignored_and_written_anew",
        "If the results cannot be written": f"{FAULTS}::test_a_cache_that_takes_nothing",
        "A candidate that ends its worker": f"{FAULTS}::test_who_ends_a_process_fails_alone",
        "All candidates that were under way": f"{FAULTS}::test_who_was_only_there_is_innocent",
        "A `ProcessPoolExecutor`, which is broken": f"{FAULTS}::test_who_ends_a_process_fails_alone",
        "...a function given as `executor`": f"{FAULTS}::test_a_function_is_asked_for_another_pool",
        "A pool whose processes cannot start": f"{FAULTS}::test_a_pool_whose_workers_cannot_start",
        "Dask starts its worker again": f"{FAULTS}::test_dask",
        "If no candidate at all ends": f"{FAULTS}::test_an_executor_that_does_nothing_is_given_up",
        "...and two minutes more": f"{CLAIMS}::test_the_limits_of_a_candidate",
        "- Without an executor, a candidate that": REASON,
        "`executor=`, or ``kernel.executor": f"{EXECUTOR}::test_a_pool_of_processes",
        "A job is small": f"{EXECUTOR}::test_jobs_are_texts_and_numbers",
        "...the tuned kernel is a global": f"{EXECUTOR}::test_kernels_and_arguments_that_cannot_be_sent",
        "A worker imports the module": f"{EXECUTOR}::test_a_pool_of_processes",
        "It refuses the job if it has": f"{EXECUTOR}::test_a_worker_with_another_device_or_other_libraries",
        "Give each GPU to one worker": REASON,
        "A `ProcessPoolExecutor` needs": NEEDS_A_GPU,
        "`over_dask.py`:": BLOCK,
        "A worker's tensors have the shapes": f"{EXECUTOR}::test_random_arguments",
        "Where a kernel needs something else": f"{EXECUTOR}::test_arguments_are_made_once_for_each_tuning",
        "If Dask's client has lost its scheduler": "tuning/test_lost_scheduler.py::test_lost_while_jobs_are_under_way",
        "Ray has no such interface, so": "tuning/test_ray_executor.py::test_jobs_and_their_failures",
        "- Threads compile in parallel because": f"{CLAIMS}::test_what_runs_without_the_lock_of_the_interpreter",
        "Turning the kernel's source into IR": f"{CLAIMS}::test_what_runs_without_the_lock_of_the_interpreter",
        "Python functions in a pipeline do not": f"{CLAIMS}::test_what_runs_without_the_lock_of_the_interpreter",
        "- With an executor every candidate": f"{EXECUTOR}::test_equal_binaries_are_measured_by_workers",
        "- Under ``TRITON_INTERPRET=1``": f"{PIPELINES}::test_interpreted",
        "- `torch.compile` replaces autotuners": NEEDS_A_GPU,
        "- An error that breaks the GPU's context": NEEDS_A_GPU,
        "- Without an executor, a candidate": f"{FAULTS}::test_a_crash_without_an_executor",
    },
    "trace.md": {
        "`kernels.py`:": BLOCK,
        "compiles the kernel afresh, without a GPU": f"{CLAIMS}::test_a_trace_compiles_afresh_and_with_a_pipeline",
        "- **one page** that needs nothing else": f"{FILES}::test_the_page_needs_nothing_else",
        "...at the right the difference": f"{BROWSER}::test_a_click_on_a_pass_shows_its_difference",
        "Each line of IR is linked": f"{BROWSER}::test_from_ir_to_python_and_back",
        "A click on a layout": "trace/test_layout_pictures.py::test_a_click_shows_the_picture",
        "The last entries are what each stage": f"{BROWSER}::test_each_language_has_its_colours",
        "...or amdgcn": f"{BROWSER}::test_amd",
        "Press `?` for the keys.": f"{BROWSER}::test_help_and_escape",
        "- **a directory** with one file": f"{FILES}::test_files_of_the_matmul",
        "...and an index": f"{FILES}::test_index",
        "In Python:": REASON,
        "`trace.py`:": BLOCK,
        "A pipeline, `pipeline=` or `-p`": f"{CLAIMS}::test_a_trace_compiles_afresh_and_with_a_pipeline",
        "The Python files that are shown": "trace/test_trace_sources.py::test_the_files_of_what_a_kernel_calls",
        "A file with IR may come from anybody": "trace/test_trace_sources.py::test_ir_in_a_file_chooses_nothing",
        "A compilation that is not traced": f"{CLAIMS}::test_where_nothing_is_traced_nothing_is_recorded",
    },
    "sdk.md": {
        "Five redirects are followed": f"{LIMITS}::test_six_redirects_are_too_many",
        "...the body of one is not read": f"{LIMITS}::test_body_of_a_redirect_is_not_read",
        "- What was installed is checked again": (
            "sdk/test_sdk_tools.py::test_a_program_that_was_exchanged_does_not_run"
        ),
        "`sdk.json`, `part.json` and `tool.json` hold": (
            "sdk/test_sdk_tools.py::test_a_program_that_was_exchanged_does_not_run"
        ),
        "Where one of these files has other bytes": (
            "sdk/test_sdk_tools.py::test_a_program_that_was_exchanged_does_not_run"
        ),
        "A file whose inode, size and times": "loader/test_index.py::test_read_once",
        "An installation of an older triton-ext": "sdk/test_sdk_tools.py::test_another_version_is_installed_anew",
        "- Nobody but you can write": f"{INSTALL}::test_what_a_loose_umask_leaves_is_found",
        "It is on the disk before": f"{INSTALL}::test_it_is_on_the_disk_before_it_has_its_name",
        "A Triton wheel exports its MLIR symbols": f"{CLAIMS}::test_what_a_wheel_of_triton_has",
        "The SDK consists of these, in": f"{INSTALL}::test_default_install_is_found",
        "...about 174 MB": f"{CLAIMS}::test_the_size_of_the_sdk_and_that_it_can_be_moved",
        "triton-ext reads from the installed": f"{INSTALL}::test_info_json_is_what_cmake_reads",
        "...and with which ABI flag": f"{INSTALL}::test_overlay_has_the_flag_of_libtriton",
        "The sources are listed in": f"{SOURCES}::test_manifest_of_the_repository",
        "| source | what it is": REASON,
        "| `user` | what `TRITON_EXT_LLVM_DIR`": f"{INSTALL}::test_environment_names_an_install",
        "...or `--from DIR": f"{INSTALL}::test_user_named_install",
        "...the version is checked": "sdk/test_sdk_bad_input.py::test_headers_of_another_llvm",
        "| `triton-llvm` | Triton's own": f"{SOURCES}::test_archive_of_triton",
        "**Only tested against a local server**": REASON,
        "| `debian-24-snapshot` | three": f"{SOURCES}::test_manifest_of_the_repository",
        "...tried first": f"{INSTALL}::test_default_install_goes_on_to_the_next_packages",
        "...only by `--source triton-llvm --unverified`": f"{VERIFIED}::test_archive_without_a_hash_needs_the_flag",
        "...a few days older; works": f"{END}::test_headers_compile",
        "| `debian-23` | Debian's LLVM 23.1": f"{END}::test_fallback_guards_what_differs",
        "`CallOp` and `LLVMFuncOp` are looked": f"{END}::test_all_three_ops_can_be_guarded",
        "`--source ID` picks one.": f"{SOURCES}::test_archive_of_triton",
        "Downloads resume, are [verified]": f"{INSTALL}::test_interrupted_download_leaves_nothing_and_is_resumed",
        "Debian's packages come from the mirror": f"{SOURCES}::test_mirror_is_the_one_that_apt_uses",
        "...set `TRITON_EXT_DEBIAN_MIRROR`": f"{SOURCES}::test_system_without_apt",
        "**An older system.** Debian's": f"{INSTALL}::test_old_c_library_gets_a_runtime",
        "The installation then adds that library": f"{INSTALL}::test_old_c_library_gets_a_runtime",
        "**No network.** Install on a machine": f"{CLAIMS}::test_the_size_of_the_sdk_and_that_it_can_be_moved",
        "Or bring an LLVM and use `--from`": "sdk/test_sdk_bad_input.py::test_no_network_for_the_c_library",
        "**Is it right?** `triton-ext doctor` compares": f"{SELFTEST}::test_green_as_built",
        "A clone builds these checks": "doctor/test_doctor.py::test_a_checkout_builds_the_selftest_once",
        "**Headers compiled once.**": f"{SHARED}::test_two_projects_share_one",
        "The first project of yours that you build": f"{PRECOMPILED}::test_it_is_made_once",
        "Every project with the same compiler": f"{PRECOMPILED}::test_other_flags_have_another",
        "A library with options or definitions": (
            f"{SHARED}::test_a_library_with_options_of_its_own_is_compiled_without"
        ),
        "...if the cache cannot be written": f"{PRECOMPILED}::test_a_cache_that_cannot_be_written",
        "`triton-ext sdk info` lists these headers": f"{SHARED}::test_sdk_info_lists_it",
        "...the four that were used last": f"{PRECOMPILED}::test_those_that_were_used_last_are_kept",
        "A precompiled header hides a missing": f"{SHARED}::test_it_builds_with_options_and_without",
        "`triton-ext build -D TRITON_EXT_PCH=OFF`": f"{SHARED}::test_it_builds_with_options_and_without",
        "A precompiled header has its SHA-256": f"{PRECOMPILED}::test_a_damaged_one_is_made_again",
        "**More of MLIR.**": "sdk/test_sdk_full_llvm.py::test_only_the_objects_of_the_part_are_taken",
        "The mirror and the network are not trusted.": REASON,
        "- Packages have their SHA-256 and size": f"{SOURCES}::test_manifest_of_the_repository",
        "What has another hash is deleted.": "sdk/test_sdk_bad_input.py::test_wrong_hash",
        "- A mirror drops old packages.": f"{VERIFIED}::test_successor_from_a_signed_index",
        "The successor of one that is gone": f"{VERIFIED}::test_successor_from_a_signed_index",
        "The index must have the hash": f"{VERIFIED}::test_index_that_is_not_the_signed_one_is_refused",
        "...`gpgv` must find good signatures": f"{VERIFIED}::test_forged_index_is_refused",
        "...exit status 0, and both": f"{VERIFIED}::test_status_of_gpgv_is_whole_lines_of_its_own_file",
        "Only the text that `gpgv` returns": f"{VERIFIED}::test_text_around_the_signed_part_is_not_read",
        "`Suite` and `Codename` must be": f"{VERIFIED}::test_another_suite_is_refused",
        "...`Valid-Until` must not have passed": f"{VERIFIED}::test_old_index_is_refused",
        "...without that field, the file": f"{VERIFIED}::test_young_index_without_an_end_is_used",
        "- A mirror whose address begins": f"{LIMITS}::test_mirror_of_http_is_used_over_https",
        "...unless the address has a port": f"{LIMITS}::test_port_and_https_are_left_as_they_are",
        "From https, no redirect leads": f"{LIMITS}::test_https_never_becomes_http",
        "- What nothing can verify is not": f"{VERIFIED}::test_where_nothing_can_verify_nothing_is_installed",
        "...a successor where `gpgv`": f"{VERIFIED}::test_where_nothing_can_verify_nothing_is_installed",
        "...the release file has expired": f"{VERIFIED}::test_old_index_is_refused",
        "`--unverified` allows it.": f"{VERIFIED}::test_archive_without_a_hash_needs_the_flag",
        "The SDK remembers this": "doctor/test_doctor.py::test_what_was_not_verified_is_shown",
        "A signature or a hash that is wrong": f"{VERIFIED}::test_forged_index_is_refused",
        "- An archive that `--from` names": f"{VERIFIED}::test_own_llvm_needs_no_flag",
        "It is read to its end": f"{LIMITS}::test_damage_after_all_that_is_wanted",
        "- Every download has limits:": f"{LIMITS}::test_size_that_is_known_is_the_limit",
        "...its size, where `sources.toml`": f"{LIMITS}::test_size_that_is_known_is_the_limit",
        "...the time of the whole;": f"{LIMITS}::test_slow_download_ends_and_is_resumed",
        "...a minute in which less than": f"{LIMITS}::test_limits_are_those_of_the_documentation",
        "An archive may unpack to 100 times": f"{LIMITS}::test_limits_are_those_of_the_documentation",
        "- A password in the address": f"{LIMITS}::test_proxy_with_a_password",
        "[test/attack](../test/support/attacks/": "attack/test_attacks_downloads.py::test_nothing_gets_through",
        "libtriton was built with clang": f"{SELFTEST}::test_catches_gcc",
        "A library built with g++ loads": f"{SELFTEST}::test_catches_gcc",
        "The build stops at another compiler": "build/test_build_bad_input.py::test_gcc",
        "...the loader refuses such a library": "build/test_third_party.py::test_gcc_is_refused",
        "libtriton's LLVM was built with assertions": f"{SELFTEST}::test_catches_ndebug",
        "So extensions are compiled with `-UNDEBUG`": f"{CLAIMS}::test_extensions_have_assertions",
        "MLIR's headers define objects": f"{SELFTEST}::test_catches_copies_of_resources",
        "With a copy of `DefaultResource`": f"{SINGLETONS}::test_effects_of_a_third_party",
        "CSE merged loads across its stores": f"{SINGLETONS}::test_effects_of_a_third_party",
        "So an extension uses the objects": f"{SINGLETONS}::test_an_extension_uses_the_objects_of_its_host",
        "`TritonExt::Triton` adds this object file": f"{SINGLETONS}::test_hidden_objects_are_noticed",
        "...compares the addresses in all": f"{SINGLETONS}::test_all_addresses_are_the_same",
        "A library that was built without": "loader/test_bad_plugins.py::test_load_raises",
        "Of a plugin that was not built": f"{SINGLETONS}::test_doctor_says_which_library",
        "`tt.load` and `tt.store` access": f"{SELFTEST}::test_green_as_built",
        "...an operation of a dialect of yours": f"{SINGLETONS}::test_effects_of_a_third_party",
    },
}


def statements(page: str) -> Iterator[str]:
    """The sentences of a page, without its headings, its pictures and its blocks of code."""
    text = re.sub(r"```.*?```", "", (ROOT / "docs" / page).read_text(), flags=re.DOTALL)
    text = re.sub(r"^#.*$|^!\[.*$|^\|[-|]+\|$", "", text, flags=re.MULTILINE)
    for paragraph in re.split(r"\n\s*\n|\n(?=[-|] )", text):
        sentences = re.split(r"(?<=[.!?;:]) (?=[A-Z`*])", " ".join(paragraph.split()))
        yield from (sentence for sentence in sentences if re.search(r"\w{3}", sentence))


@pytest.mark.parametrize("page", TRACED)
def test_every_statement_is_traced(page: str) -> None:
    beginnings = tuple(beginning for beginning in TRACED[page] if not beginning.startswith("..."))
    assert [statement for statement in statements(page) if not statement.startswith(beginnings)] == []


@pytest.mark.parametrize("page", TRACED)
def test_what_is_traced_is_on_the_page(page: str) -> None:
    found = list(statements(page))
    for beginning in TRACED[page]:
        if beginning.startswith("..."):
            assert [s for s in found if beginning.removeprefix("...") in s], beginning
        else:
            assert len([s for s in found if s.startswith(beginning)]) == 1, beginning


@pytest.mark.parametrize("page", TRACED)
def test_the_tests_are_there(page: str) -> None:
    for place in set(TRACED[page].values()) - {NEEDS_A_GPU, REASON}:
        file, _, name = place.partition("::")
        assert re.search(rf"^def {name}\(", (ROOT / "test" / file).read_text(), re.MULTILINE), place
