"""Tests that only ``make test-slow`` runs: what they show, a shorter test that CI runs shows on less.

CI has 20 minutes on two cores. Each entry is the start of a test's name; the comment names what stays in CI.
"""

from __future__ import annotations

SLOW_TESTS = (
    # The embedded engine stays (test_explore.py): these start schedulers and workers as processes, or make 10,000 rows.
    "plugins/match-explore/tests/test_cluster.py",
    "plugins/match-explore/tests/test_page.py::test_ten_thousand_points_stay_usable",
    # The kernel's recipe stays; what the other pages' steps write is compiled by tests/docs/test_extending.py too.
    "tests/docs/test_developing.py::test_the_recipe_works[pass]",
    "tests/docs/test_developing.py::test_the_recipe_works[hook]",
    "tests/docs/test_developing.py::test_the_recipe_works[verb]",
    "tests/docs/test_developing.py::test_the_recipe_works[operator]",
    # The page's first command stays; test_quantize_verb.py and tests/verify/test_labels.py do what the others show.
    "tests/docs/test_commands.py::test_session[docs/calibration.md:1]",
    "tests/docs/test_commands.py::test_session[docs/calibration.md:2]",
    # The README's five commands are those of the first; cli.md compiles and compares the programs of the others.
    "tests/docs/test_commands.py::test_session[docs/tutorial-gate.md",
    "tests/docs/test_commands.py::test_session[docs/tutorial-pytorch.md",
    "tests/docs/test_commands.py::test_session[docs/tutorial-research.md",
    # Each package is installed and left out by the other tests of the folder, and by tests/examples_packages.
    "tests/packaging/test_wheels.py::test_from_one_package_to_all_and_back",
    # The autoencoder, whose biases do not all fit, stays.
    "tests/end_to_end/test_moss.py::test_networks_run_on_the_engine_bit_exact[dscnn]",
    "tests/end_to_end/test_moss.py::test_networks_run_on_the_engine_bit_exact[resnet8]",
    # Mistakes that are found without building C stay, and two that build it; conformance of the kinds regions and
    # library here, of the kind tiles by the verb.
    "tests/kit/test_mistakes.py::test_one_message_names_the_cause[nobody waits for copies]",
    "tests/kit/test_mistakes.py::test_one_message_names_the_cause[the twin counts other cycles]",
    "tests/kit/test_scaffold.py::test_it_passes[tiles]",
    "tests/docs/test_extending.py::test_the_pages_that_go_step_by_step[tutorial-library.md-10]",
    # tests/end_to_end/test_moss.py installs the package, and runs layers in lazy mode, a network and a board.
    "tests/docs/test_extending.py::test_the_pages_that_go_step_by_step[tutorial-regions.md-12]",
    "tests/end_to_end/test_moss.py::test_everything_that_the_engine_takes[options0]",
    # Equal bytes: core/tests/cli/test_verbs.py compiles twice, core/tests/map/test_cached.py with a filled cache.
    "tests/end_to_end/test_schedule_cache.py",
    "tests/end_to_end/test_transformers.py::test_two_processes_give_the_same_bytes",
    "tests/end_to_end/test_diana.py::test_two_processes_give_the_same_bytes",
    "tests/end_to_end/test_manners.py::test_twice_at_once_into_one_directory",
    "tests/end_to_end/test_fern.py::test_the_same_bytes_whatever_the_hash_seed",
    "core/tests/cli/test_options.py::test_two_compilations_at_once",
    "core/tests/cli/test_report.py::test_twice_gives_the_same_bytes",
    "core/tests/regions/test_emit_results.py::test_the_same_bytes_with_any_hash_seed[json]",
    "core/tests/map/test_concurrent.py::test_the_result_depends_on_nothing_but_the_input",
    "plugins/match-ita/tests/test_conformance.py::TestConformance::test_conformance[ita-repeats-bytes]",
    *(
        f"plugins/match-carfield/tests/test_conformance.py::TestConformance::test_conformance[{target}-repeats-bytes]"
        for target in ("carfield_matcha", "carfield_poll")
    ),
    # stm32l4r5 and corstone300 stay: the kernels of both kinds of core.
    *(
        f"plugins/match-cortexm/tests/test_conformance.py::TestConformance::test_conformance[{target}-"
        for target in ("stm32h743", "nrf52840", "rp2040", "rp2350", "cortex_m3_mps2")
    ),
    # One layer of each kernel stays on one of the cores.
    *(
        f"plugins/match-cortexm/tests/test_kernels.py::test_on_the_twin[{name}-{target}]"
        for name, target in (
            ("over_read", "corstone300"),
            ("pointwise_odd", "corstone300"),
            ("compact", "stm32l4r5"),
            ("add", "stm32l4r5"),
            ("sums", "corstone300"),
            ("max_pool", "stm32l4r5"),
            ("lookup", "stm32l4r5"),
            ("dense", "stm32l4r5"),
        )
    ),
    # stm32l4r5_cmsis_nn stays: calls of the library are the same on both.
    "plugins/match-cmsisnn/tests/test_conformance.py::TestConformance::test_conformance[corstone300_cmsis_nn-",
    *(
        f"plugins/match-cmsisnn/tests/test_calls.py::test_on_the_twin[{name}]"
        for name in ("strided", "pointwise_strided", "row", "depthwise_wide")
    ),
    *(
        f"plugins/match-cmsisnn/tests/test_calls.py::test_on_the_emulator[{name}]"
        for name in ("border-stm32l4r5_cmsis_nn", "dense-corstone300_cmsis_nn")
    ),
    # Schedules of random layers compute them in core/tests/emit/test_layer_random.py.
    "core/tests/emit/test_layer_engine.py",
    "core/tests/emit/test_layer_bundle.py::test_any_legal_schedule_computes_the_layer",
    "core/tests/schedule/test_execute.py::test_a_changed_schedule_is_refused_or_still_right",
    "core/tests/emit/test_side_by_side.py::test_operators_divided_by_chance",
    *(
        f"core/tests/emit/test_layer_shares.py::test_any_share_computes_its_part[{kind}]"
        for kind in ("permute_home", "permute", "sum2d", "packed")
    ),
    *(
        f"core/tests/emit/test_layer_random.py::test_any_legal_schedule_computes_the_layer[{kind}]"
        for kind in ("permute_home", "permute", "sum2d", "packed")
    ),
    "core/tests/emit/test_layer_features.py::test_rests_strides_and_padding_in_every_dimension",
    # GAP9 and the host stay.
    "tests/end_to_end/test_layers.py::test_samples_of_a_batch_take_the_units_way[QOperator]",
    *(
        f"tests/end_to_end/test_layers.py::test_batches_on_every_target[{name}"
        for name in ("host-QOperator", "diana", "carfield", "ita")
    ),
    *(
        f"tests/end_to_end/test_layers.py::{name}-host]"
        for name in (
            *(f"test_layers_that_become_convolutions[{layer}" for layer in ("decoder", "volume", "sequence")),
            *(f"test_unsigned_weights[{form}" for form in ("QDQ", "QOperator")),
            *(
                f"test_moves_between_quantisers_and_layers[{move}"
                for move in ("slice", "pad", "split", "resize", "transpose", "reshape", "maximum", "after_maximum")
            ),
        )
    ),
    # Kernels of bytes in tiles stay, and products in whole layers; of the host, functions and moves.
    *(
        f"tests/end_to_end/test_byte_kernels.py::test_cluster[{case}-None]"
        for case in ("concats", "functions", "moves")
    ),
    *(f"tests/end_to_end/test_byte_kernels.py::test_host[{case}]" for case in ("concats", "products")),
    # One network of each number of sums stays; core/tests/passes/test_fixed_point.py has all ways of rounding.
    "tests/end_to_end/test_fixed_point.py::test_units_take_the_sums[away-True-4]",
    "tests/end_to_end/test_fixed_point.py::test_units_take_the_sums[toward-",
    "tests/end_to_end/test_fixed_point.py::test_the_host_alone_keeps_one_sum[up]",
    # States: each operator on one target, each kind of first value.
    "tests/tflite/test_states.py::test_lstm_on_integers[host-True-0.0]",
    "tests/tflite/test_states.py::test_lstm_on_reals[False]",
    "tests/tflite/test_states.py::test_a_variable_of_a_handle[None-gap9]",
    "tests/tflite/test_states.py::test_a_variable_of_a_handle[-7-host]",
    # Two bits are what four bits are compared with.
    "tests/end_to_end/test_narrow_weights.py::test_ne16_reads_packed_weights[int2-False]",
    # The host's kernels run in GAP9's program too.
    "tests/tflite/test_int16.py::test_a_network_runs_bit_for_bit[host]",
    # Two verbs' documents have all of these contents in one process in the same file; one seed of edits stays.
    *(
        f"tests/errors/test_documents.py::test_every_verb_names_the_fault[{content}]"
        for content in ("nested objects", "a long number", "a number", "UTF-16", "half a character", "only the heading")
    ),
    *(f"tests/errors/test_documents.py::test_edited_reports[{seed}]" for seed in (1, 2)),
    # Two forms of floats stay.
    "tests/host/test_special_values.py::test_special_values_are_those_of_onnx_runtime[float64]",
    # One network of a kind stays.
    "tests/end_to_end/test_transformers.py::test_all_encoders_of_the_vectors",
    "tests/end_to_end/test_transformers.py::test_a_sample_of_missing_waits_is_caught",
    "tests/end_to_end/test_transformers.py::test_network_of_quantlib[Models/CCT/Int/ICCT_ITA-on_ita0]",
    "tests/end_to_end/test_transformers.py::test_the_cores_alone_give_the_same[ita_mobilebert_l1_int8_qdq]",
    "tests/end_to_end/test_tflite.py::test_every_verb_takes_it",
    "tests/end_to_end/test_tflite.py::test_the_distance_to_tflite_is_what_the_page_says[mlperf_mobilenetv1_025_int8_qdq",
    "tests/end_to_end/test_tflite.py::test_the_distance_to_tflite_is_what_the_page_says[mlperf_streaming_wakeword_int8_qdq",
    "tests/end_to_end/test_streaming.py::test_weights_beyond_a_small_l2_are_streamed[exact]",
    "tests/end_to_end/test_networks.py::test_disabling_a_unit_changes_cycles_not_values",
    "tests/end_to_end/test_manifests.py::test_shared_networks_give_the_same_programs[mlperf_autoencoder_int8_qdq-gap9]",
    "tests/end_to_end/test_manifests.py::test_shared_networks_give_the_same_programs[mlperf_dscnn_int8_qdq-carfield]",
    "tests/end_to_end/test_diana.py::test_without_a_unit_values_stay[digital+analog]",
    "tests/end_to_end/test_diana.py::test_random_networks",
    "tests/host/test_regions.py::test_integer_models_equal_their_stored_outputs[mlperf_resnet8_int8_int]",
    "tests/host/test_regions.py::test_integer_models_equal_their_stored_outputs[mlperf_dscnn_int8_int]",
    "tests/host/test_half_networks.py::test_network[matcha_transformer_block_f16",
    "tests/host/test_half_networks.py::test_network[matcha_convnext_block_f16",
    "core/tests/passes/test_layer_norm.py::test_real_networks[whisper_tiny_l1_int8_qdq-3]",
    "core/tests/passes/test_layer_norm.py::test_real_networks[dinov2_small_l1_int8_qdq-3]",
    "core/tests/passes/test_layout.py::test_layout_keeps_every_bit_of_the_networks",
    "core/tests/passes/test_networks.py::test_integer_networks_keep_every_bit[accelerated-resnet8]",
    "core/tests/passes/test_networks.py::test_attention_networks[ita_mobilebert_l1_int8_pc_qdq]",
    "core/tests/map/test_repeats.py",
    "plugins/match-carfield/tests/patterns/test_models.py::test_tensors_that_do_not_fit_l2_lie_in_dram",
    "plugins/match-carfield/tests/sdk/test_carfield_images.py::test_the_units_image_is_in_the_hosts_file[pulp]",
    "plugins/match-diana/tests/analog/test_mixed.py::test_same_bytes_without_the_array",
    "plugins/match-diana/tests/analog/test_mixed.py::test_the_analog_array_gains",
    *(
        f"plugins/match-gap9/tests/test_wide.py::test_exact_on_every_unit_in_every_order[{kind}]"
        for kind in ("bands", "kernels", "padding_value", "narrow_weights", "one_column")
    ),
    "plugins/match-ita/tests/ita/test_ita_twin.py::test_both_units_side_by_side[lazy",
    "plugins/match-ita/tests/ita/test_ita_twin.py::test_side_by_side_with_the_host[dino",
    "plugins/match-ita/tests/test_conformance.py::TestConformance::test_conformance[ita-programs-strict]",
    "plugins/match-ita/tests/rows/test_rows_elements.py::test_sums_in_32_bits",
    *(
        f"tests/end_to_end/test_shapes.py::test_shape[{shape}-{units}]"
        for shape in ("one_column", "depthwise", "odd_channels", "stride_two", "asymmetric_input")
        for units in ("cluster", "ne16")
    ),
    *(
        f"tests/end_to_end/test_shapes.py::test_narrow_weights_take_fewer_bits_on_ne16[{bits}]"
        for bits in (3, 4, 5, 6, 7)
    ),
    # One board of two: the one with events.
    "tests/qemu/test_virt.py::test_outputs_are_those_of_the_twin[carfield_poll]",
    # Searches that compare many answers; validators check every single answer.
    "tests/regions/test_grow.py::test_there_are_hardly_more_regions_than_there_must_be",
    "tests/conformance/test_sample.py::test_most_cases_are_static",
    "core/tests/emit/test_half.py::test_fused_multiply_add_rounds_the_exact_result[-O2]",
    "tests/host/test_convert.py::test_all_pairs_of_forms",
    # Verbs that start many programs; others of the file stay.
    "tests/end_to_end/test_manners.py::test_where_nothing_can_be_written[test-target]",
    "tests/end_to_end/test_manners.py::test_output_that_is_no_terminal_is_plain[test-target]",
    "tests/end_to_end/test_manners.py::test_a_reader_that_goes_away[test-target]",
    "tests/benchmarks/test_host.py::test_a_network_is_measured",
    "tests/benchmarks/test_commands.py::test_a_network_on_diana_with_less_l1",
    "tests/report/test_page.py::test_a_large_report_opens_in_two_seconds_and_draws_what_is_in_view",
    # Fits in one process and refusals by the verb stay.
    "plugins/match-calibrate/tests/test_verb.py::test_the_verb_writes_file_and_page",
    "plugins/match-calibrate/tests/test_stored.py",
    # Stacks: -O2 stays; configuring and building with CMake.
    *(
        f"tests/end_to_end/test_shipped_c.py::test_the_stack_bound_holds[{name}-{compiler}-{level}]"
        for name in ("integers", "floats")
        for compiler in ("x86", "m4", "rv32")
        for level in ("-Os", "-O3")
    ),
    "plugins/match-export/tests/test_export.py::test_cmake_installs_and_finds_the_package",
    "plugins/match-export/tests/test_export.py::test_platformio_packs_the_library",
    *(
        f"plugins/match-calibrate/tests/test_planted.py::{name}"
        for name in (
            "test_planted_constants_are_recovered[1]",
            "test_more_runs_determine_constants_better",
            "test_the_standard_error_says_how_far_off_a_value_may_be",
            "test_exact_counters_change_nothing",
        )
    ),
    # tests/packaging installs wheels offline; one missing part of each kind stays.
    "tests/kit/test_scaffold.py::test_it_installs_offline_and_the_verb_writes_its_badge",
    "tests/kit/test_scaffold.py::test_a_part_that_is_missing_is_named[clip]",
    "tests/kit/test_scaffold.py::test_a_part_that_is_missing_is_named[poison's end]",
    "tests/docs/test_extending.py::test_the_pages_that_go_step_by_step[regions.md",
    # All units together stay.
    *(f"tests/end_to_end/test_shapes.py::test_shape[{shape}-ne16]" for shape in ("tiled", "large_kernel")),
    "tests/end_to_end/test_diana.py::test_too_little_l2_is_told_with_what_helps",
    "plugins/match-gap9/tests/twin/test_sources.py::test_twin_is_warning_free[-O3-as-published]",
    "core/tests/schedule/test_optimum.py::test_schedules_are_legal_and_cost_what_their_events_say",
    "tests/packaging/test_left_out.py::test_only_those_who_import_the_library_of_regions_need_it",
    # Shown by another case of the same file, by the other precision, or by a smaller network.
    "plugins/match-calibrate/tests/test_planted.py::test_planted_constants_are_recovered[3]",
    "plugins/match-calibrate/tests/test_verb.py::test_compiler_and_twin_use_the_file",
    "plugins/match-carfield/tests/sdk/test_carfield_images.py::test_the_units_image_is_in_the_hosts_file[spatz]",
    *(
        f"plugins/match-carfield/tests/test_conformance.py::TestConformance::test_conformance[{target}-programs-strict]"
        for target in ("carfield_matcha", "carfield_poll")
    ),
    "plugins/match-carfield/tests/patterns/test_matcha_board.py::test_programs_of_the_board_are_right",
    "plugins/match-gap9/tests/test_stack.py::test_stacks_hold_the_deepest_path[--concurrent]",
    "plugins/match-gap9/tests/test_beside.py::test_a_gain_within_the_uncertainty_is_declined",
    "plugins/match-gap9/tests/test_wide.py::test_exact_on_every_unit_in_every_order[tiled]",
    "tests/end_to_end/test_blocking_units.py::test_the_host_runs_the_tasks_of_a_unit_without_a_dispatch_loop",
    "tests/end_to_end/test_build_files.py::test_the_open_sdk_builds_the_application[resident]",
    "tests/end_to_end/test_build_files.py::test_the_vendors_sdk_builds_the_application[resident]",
    "tests/end_to_end/test_explain.py::test_the_change_that_it_names_moves_the_layer[gap9",
    "tests/end_to_end/test_shapes.py::test_shape[tiled-all]",
    "tests/end_to_end/test_shapes.py::test_shape[symmetric-all]",
    "tests/end_to_end/test_integer_networks.py::test_stored_network[Kernels/Integer/Attention]",
    "tests/end_to_end/test_integer_networks.py::test_made_network[attention, ITA]",
    "tests/end_to_end/test_early_functions.py::test_an_encoder_of_opset_13_runs_as_one_of_opset_17[early]",
    "tests/end_to_end/test_diana.py::test_without_a_unit_values_stay[analog]",
    "tests/end_to_end/test_diana.py::test_noise_is_off_unless_a_seed_is_set",
    "tests/end_to_end/test_narrow_weights.py::test_ne16_reads_packed_weights[int4-True]",
    "tests/end_to_end/test_networks.py::test_network_is_bit_exact_and_close[autoencoder-qop]",
    "tests/end_to_end/test_streaming.py::test_weights_beyond_a_small_l2_are_streamed[fast]",
    "tests/end_to_end/test_byte_kernels.py::test_cluster[moves-4200]",
    "tests/benchmarks/test_side_by_side.py::test_the_host_converts_binary16_more_than_half_of_the_time",
    "tests/benchmarks/test_transformers.py::test_rows_follow_from_cycles",
    "core/tests/passes/test_networks.py::test_integer_networks_keep_every_bit[accelerated-dscnn]",
    "core/tests/passes/test_networks.py::test_integer_networks_keep_every_bit[accelerated-streaming_wakeword]",
    "core/tests/passes/test_networks.py::test_integer_networks_keep_every_bit[host_only-",
    "core/tests/plan/test_concurrent.py::test_without_any_need_the_program_is_wrong",
    "core/tests/plan/test_concurrent.py::test_solved_plans_are_right_too",
    "core/tests/regions/test_emit_results.py::test_the_same_bytes_with_any_hash_seed[binary]",
    "core/tests/schedule/test_tile_choices.py::test_the_best_tile_is_the_searchs",
    "tests/docs/test_commands.py::test_session[docs/boards.md:0]",
    "tests/docs/test_commands.py::test_session[docs/twin.md:0]",
    # The rules are compared on the host's programs; the emulated boards run whole networks in the slow tests.
    "tests/end_to_end/test_shipped_c.py::test_every_finding_of_misra_is_a_listed_deviation[diana]",
    "tests/end_to_end/test_shipped_c.py::test_every_finding_of_misra_is_a_listed_deviation[m55]",
    # tests/end_to_end/test_shipped_c.py loads constants at run time too.
    "tests/qemu/test_external_flash.py",
    # One level on M4 stays.
    "tests/end_to_end/test_shipped_c.py::test_the_stack_bound_holds[core-x86",
    "tests/end_to_end/test_shipped_c.py::test_the_stack_bound_holds[core-rv32",
    "tests/end_to_end/test_shipped_c.py::test_the_stack_bound_holds[core-m4--O2]",
    "tests/end_to_end/test_shipped_c.py::test_the_stack_bound_holds[core-m4--Os]",
    "tests/end_to_end/test_build_files.py::test_a_riscv_compiler_takes_every_file[beside]",
    "tests/qemu/test_virt.py::test_a_unit_that_hangs_is_restarted",
    "plugins/match-cortexm/tests/test_conformance.py::TestConformance::test_conformance[corstone300-repeats-bytes]",
    "core/tests/passes/test_networks.py::test_integer_networks_keep_every_bit",
    "tests/end_to_end/test_blocking_units.py::test_all_modes_of_the_twin_give_the_same_bytes",
    "plugins/match-calibrate/tests/test_verb.py::test_refusals_have_reasons",
    "core/tests/plan/test_concurrent.py::test_small_memories_give_swaps_and_right_results",
    # Of the layers of a grid, each kind at one size of images and of channels stays.
    *(
        f"tests/end_to_end/test_micro.py::test_micro_convolution[micro_conv_{kind}_{size}_c{channels}_int]"
        for kind in ("std", "dw")
        for size, channels in (
            *(("2x2", channels) for channels in (1, 16)),
            *(("8x8", channels) for channels in (1, 16, 64)),
            *(("16x16", channels) for channels in (1, 16)),
            *(("32x32", channels) for channels in (1, 16)),
        )
    ),
    *(
        f"tests/end_to_end/test_shapes.py::test_shape[{shape}"
        for shape in ("symmetric-", "grouped-cluster", "grouped-ne16", "large_kernel-cluster", "odd_channels-all")
    ),
    "tests/end_to_end/test_layers.py::test_batches_of_integer_networks[host]",
    "tests/end_to_end/test_byte_kernels.py::test_cluster[products-None]",
    "tests/end_to_end/test_byte_kernels.py::test_cluster[functions-4200]",
    # tests/end_to_end/test_golden_c.py compares the text of these programs.
    "tests/end_to_end/test_manifests.py::test_made_networks_give_the_same_programs[golden concurrent]",
    "tests/end_to_end/test_manifests.py::test_made_networks_give_the_same_programs[golden streamed]",
    # Boards: two packages run concurrently in the tests of the file that stay.
    "tests/end_to_end/test_boards.py::test_a_program_keeps_its_board",
    "tests/end_to_end/test_boards.py::test_a_vision_transformer_runs_on_clusters_of_two_packages",
    # DS-CNN stays, and tests/end_to_end/test_tflite.py compares with TFLite too.
    *(
        f"tests/end_to_end/test_networks.py::test_integer_form_equals_tflite_on_the_host[{name}]"
        for name in ("resnet8", "streaming_wakeword", "autoencoder")
    ),
    *(
        f"tests/end_to_end/test_host_models.py::test_a_model_is_right_and_needs_no_more_memory_than_it_must[{name}]"
        for name in ("matcha_resnet8_f16", "ita_mobilebert_l1_int8_qdq", "mlperf_streaming_wakeword_int8_qdq")
    ),
    "tests/end_to_end/test_demo.py::test_demo_under_sanitizers[lazy]",
    "tests/end_to_end/test_streaming.py::test_every_unit_streams[ne16]",
    "tests/end_to_end/test_build_files.py::test_a_riscv_compiler_takes_every_file[simd]",
    *(
        f"tests/end_to_end/test_transformers.py::test_probabilities_of_the_vectors[512-{preset}]"
        for preset in ("islped",)
    ),
    # DIANA: layers of each unit stay, and one network of each kind.
    "tests/end_to_end/test_diana.py::test_the_mixed_model_uses_all_units",
    "tests/end_to_end/test_diana.py::test_a_small_l1_cuts_layers_into_tiles",
    "tests/end_to_end/test_diana.py::test_network[autoencoder]",
    "plugins/match-diana/tests/analog/test_mixed.py::test_other_runs",
    "plugins/match-diana/tests/analog/test_mixed.py::test_distance_to_the_original",
    "plugins/match-diana/tests/analog/test_analog_twin.py::test_tiles[lazy-",
    "plugins/match-diana/tests/passes/test_diana_networks.py::test_rounding_of_each_kind_is_measured",
    *(
        f"plugins/match-diana/tests/passes/test_diana_networks.py::{name}[{network}-{form}]"
        for name in ("test_classes_agree_with_the_original", "test_every_layer_that_the_array_has_gets_its_form")
        for network, form in (("mobilenetv1_025", "qop"), ("mobilenetv1_025", "qdq"), ("resnet8", "qop"))
    ),
    *(
        f"plugins/match-diana/tests/digital/test_digital_twin.py::test_layers_in_a_small_l1[{case}]"
        for case in ("rows of 16", "rows of 48", "prime", "few outputs", "sum", "blocks")
    ),
    # Lowering of one form of each network stays; micro-benchmarks run as programs in test_micro.py.
    *(
        f"core/tests/passes/test_networks.py::{name}[mlperf_{network}_int8_{form}]"
        for name in (
            "test_fast_arithmetic_is_close_too",
            "test_every_operator_is_close_to_the_original",
            "test_end_to_end",
        )
        for network, form in (
            ("mobilenetv1_025", "qop"),
            ("resnet8", "qdq"),
            ("dscnn", "qop"),
            ("mobilenetv1_025", "qdq"),
        )
    ),
    "core/tests/passes/test_networks.py::test_micro_benchmarks[8x8",
    "core/tests/passes/test_networks.py::test_micro_benchmarks[32x32",
    # carfield (events) stays.
    "plugins/match-carfield/tests/test_conformance.py::TestConformance::test_conformance[carfield_poll-",
    "plugins/match-carfield/tests/sdk/test_carfield_images.py",
    # Fits of one program in test_verb.py stay.
    "plugins/match-calibrate/tests/test_planted.py",
    # Modes of concurrent programs: tests/end_to_end/test_side_by_side.py has all with sanitizers.
    *(
        f"plugins/match-gap9/tests/test_beside.py::test_every_mode_gives_the_same_bytes[{mode}]"
        for mode in ("threads:3-fast", "lazy:cluster-fast", "lazy:ne16-fast", "lazy-exact")
    ),
    "plugins/match-gap9/tests/test_streaming.py::test_streamed_layers_take_about_the_predicted_cycles[as-published]",
    "plugins/match-ita/tests/rows/test_rows_counts.py::test_figures_are_counted",
    "plugins/match-ita/tests/ita/test_ita_twin.py::test_both_units_side_by_side",
    *(
        f"plugins/match-ita/tests/ita/test_ita_twin.py::test_bits[{case}]"
        for case in ("cross", "short", "many_columns")
    ),
    # The README's sessions stay.
    "tests/docs/test_commands.py::test_session[plugins/match-gap9/README.md",
    "tests/docs/test_developing.py::test_the_recipe_works[kernel]",
    # Benchmarks: each command's table is made from a small part in tests/benchmarks/test_commands.py.
    "tests/benchmarks/test_transformers.py::test_products_come_near_to_the_calibrated_utilisation",
    "tests/benchmarks/test_papers.py::test_a_section_by_running",
    "tests/benchmarks/test_dnnl.py::test_a_detector_leaves_suppression_to_the_host",
    "tests/benchmarks/test_commands.py::test_resnet8_deploys_with_8_kilobytes_of_l1",
    # Shares and schedules of convolutions stay.
    "core/tests/emit/test_layer_shares.py::test_any_share_computes_its_part[add]",
    "core/tests/emit/test_layer_random.py::test_any_legal_schedule_computes_the_layer[add]",
    # Of several modes, networks, presets or ways of rounding, those that cover most stay.
    "tests/end_to_end/test_streaming.py::test_streaming_under_sanitizers[lazy]",
    "tests/end_to_end/test_fixed_point.py::test_units_take_the_sums[third-False-4]",
    "tests/end_to_end/test_integer_networks.py::test_made_network[requant of uint8]",
    "tests/end_to_end/test_narrow_weights.py::test_ne16_reads_packed_weights[uint2-True]",
    "tests/end_to_end/test_tflite.py::test_the_distance_to_tflite_is_what_the_page_says[mlperf_resnet8_int8_qdq-host]",
    "tests/end_to_end/test_transformers.py::test_shape[241 rows",
    "tests/end_to_end/test_transformers.py::test_all_modes_agree_with_sanitizers[attention]",
    "tests/end_to_end/test_manifests.py::test_shared_networks_give_the_same_programs[mlperf_dscnn_int8_qdq-ita]",
    "tests/end_to_end/test_explain.py::test_the_change_that_it_names_moves_the_layer[diana-LayerSpec(in_channels=64",
    "tests/end_to_end/test_diana.py::test_without_analog_arithmetic_ternary_layers_are_digital",
    "tests/host/test_regions.py::test_float_models_are_close_to_their_stored_outputs[mlperf_resnet8_f32]",
    "plugins/match-gap9/tests/twin/test_sources.py::test_twin_is_warning_free[-O3-engine]",
    "plugins/match-ita/tests/products/test_products_counts.py::test_figures_are_counted",
    "plugins/match-carfield/tests/patterns/test_models.py::test_models_on_each_unit[image]",
    # Of shapes, those stay that tile, split groups, or leave rests; of micro benchmarks, each form and each kind once.
    *(
        f"tests/end_to_end/test_shapes.py::test_shape[{shape}]"
        for shape in ("plain-cluster", "plain-ne16", "one_column-all", "large_kernel-all")
    ),
    *(
        f"tests/end_to_end/test_micro.py::test_micro_convolution[micro_conv_{name}_"
        for name in (
            "dw_16x16_c16_relu_u8",
            "dw_16x16_c64",
            "dw_2x2",
            "std_16x16_c16_pc",
            "std_16x16_c64_relu_u8",
            "std_32x32",
        )
    ),
    *(
        f"plugins/match-diana/tests/digital/test_digital_twin.py::{name}]"
        for name in (
            *(f"test_layers[{layer}" for layer in ("narrow", "rectangle", "pointwise", "few channels", "dense")),
            *(f"test_layers[{layer}" for layer in ("depthwise narrow", "depthwise pixels", "sum of few", "sum odd")),
            *(f"test_layers_in_a_small_l1[{layer}" for layer in ("rows of 16", "prime", "depthwise rows", "sum")),
            *(f"test_layers_in_a_small_l1[{layer}" for layer in ("few outputs", "blocks")),
        )
    ),
    *(
        f"plugins/match-diana/tests/analog/test_analog_twin.py::test_{name}"
        for name in (
            *(f"layers[{layer}]" for layer in ("stride", "row", "two groups")),
            *(f"tiles[eager-{layer}" for layer in ("unrolled", "stride", "wide kernel", "two groups-memory4")),
            *(f"tiles[lazy-{layer}" for layer in ("uneven padding", "two groups-memory5")),
        )
    ),
    # Both forms of ResNet8 stay, and the test that both forms become the same arithmetic.
    *(
        f"core/tests/passes/test_networks.py::test_{kind}[mlperf_{network}_int8_qop]"
        for kind in ("every_operator_is_close_to_the_original", "fast_arithmetic_is_close_too", "end_to_end")
        for network in ("dscnn", "mobilenetv1_025", "autoencoder")
    ),
    *(
        f"core/tests/passes/test_networks.py::{name}"
        for name in (
            *(
                f"test_integer_networks_keep_every_bit[host_only-{network}]"
                for network in ("dscnn", "autoencoder", "streaming_wakeword")
            ),
            *(f"test_micro_benchmarks[{size}" for size in ("16x16_c64", "2x2", "32x32", "8x8")),
            *(f"test_float_networks[mlperf_{network}_f32]" for network in ("mobilenetv1_025", "autoencoder")),
        )
    ),
    *(
        f"plugins/match-diana/tests/passes/test_diana_networks.py::test_{kind}[{network}-qop]"
        for kind in ("every_layer_that_the_array_has_gets_its_form", "classes_agree_with_the_original")
        for network in ("dscnn", "mobilenetv1_025")
    ),
    "plugins/match-diana/tests/passes/test_diana_networks.py::test_the_autoencoder_stays_close[qop]",
    "plugins/match-diana/tests/passes/test_diana_networks.py::test_the_error_of_the_reconstruction_stays[qop]",
    # One unit at a time in the loops of both, one layer of each kind of product.
    "plugins/match-ita/tests/ita/test_ita_twin.py::test_side_by_side_with_the_host[gelu-",
    "plugins/match-ita/tests/ita/test_ita_twin.py::test_bits[first_columns]",
    "plugins/match-ita/tests/ita/test_ita_twin.py::test_bits[row]",
    "plugins/match-gap9/tests/test_beside.py::test_every_mode_gives_the_same_bytes[lazy-fast]",
    "plugins/match-gap9/tests/test_beside.py::test_every_mode_gives_the_same_bytes[lazy:cluster-fast]",
    "plugins/match-gap9/tests/test_beside.py::test_every_mode_gives_the_same_bytes[threads:4-exact]",
    *(
        f"plugins/match-gap9/tests/test_wide.py::test_exact_on_every_unit_in_every_order[{layer}]"
        for layer in ("padding_value", "one_column", "kernels")
    ),
    # Every layer stays in one of its two forms, every zero point for two layers.
    "core/tests/passes/test_integerise_layers.py::test_transposed[False-",
    *(
        f"core/tests/passes/test_integerise_layers.py::test_unsigned_weights[{zero}-{layer}]"
        for zero in (0, 100, 255)
        for layer in ("depthwise", "dilated depthwise", "groups", "sequence")
    ),
    # One network of integers of each kind stays; equal sums in registers for two networks.
    "tests/end_to_end/test_integer_networks.py::test_stored_network[Kernels/Integer/GEMM",
    "tests/end_to_end/test_integer_networks.py::test_made_network[requant]",
    *(
        f"tests/host/test_regions.py::test_chains_of_64_bit_integers_stay_in_registers[mlperf_{network}_int8_int]"
        for network in ("autoencoder", "dscnn", "mobilenetv1_025")
    ),
    "tests/host/test_regions.py::test_integer_models_equal_their_stored_outputs[micro_conv_std_8x8_c64_int]",
    # -Ofast sets all of these flags; bounds of the stack for floats on one of the small cores.
    "tests/end_to_end/test_shipped_c.py::test_fast_math_is_refused[-ffinite",
    "tests/end_to_end/test_shipped_c.py::test_fast_math_is_refused[-funsafe",
    "tests/end_to_end/test_shipped_c.py::test_the_stack_bound_holds[floats-x86",
    "tests/end_to_end/test_shipped_c.py::test_the_stack_bound_holds[floats-rv32",
    "core/tests/emit/test_half.py::test_fused_multiply_add_rounds_the_exact_result[-O1 -fsanitize",
    # The fixture of test_verb.py calls the verb too, tests/test_widths.py by its command.
    "plugins/match-calibrate/tests/test_verb.py::test_the_verb_writes_file_and_page",
    # Packages whose units run at the same time on one board stay in a block of a transformer.
    "tests/end_to_end/test_boards.py::test_clusters_of_two_packages_run_side_by_side",
    "tests/end_to_end/test_side_by_side.py::test_all_modes_agree_with_sanitizers[carfield_poll]",
    "tests/end_to_end/test_fixed_point.py::test_units_take_the_sums[away-False-8]",
    "tests/benchmarks/test_transformers.py::test_shares_name_every_unit_that_works",
    # Two samples of damaged files stay.
    *(f"tests/fuzz/test_corpus.py::test_a_fixed_sample[{number}]" for number in (2, 3)),
    "tests/end_to_end/test_shapes.py::test_shape[stride_two-all]",
    "tests/end_to_end/test_shapes.py::test_shape[asymmetric_input-all]",
    *(
        f"plugins/match-carfield/tests/test_conformance.py::TestConformance::test_conformance[{target}-costs-counted]"
        for target in ("carfield_matcha", "carfield_poll")
    ),
    "plugins/match-gap9/tests/twin/test_two_copiers.py::test_every_copy_is_whole_at_its_wait[eager]",
    "plugins/match-gap9/tests/test_wide.py::test_exact_on_every_unit_in_every_order[stride_two]",
    "tests/end_to_end/test_integer_networks.py::test_made_up_inputs_are_integers",
    # Attention on ITA stays, integers of NEMO, floats on all boards; depthwise layers run in test_micro.py.
    "tests/end_to_end/test_transformers.py::test_the_smallest_network_side_by_side",
    "tests/end_to_end/test_integer_networks.py::test_made_network[attention, I-BERT]",
    "tests/benchmarks/test_boards.py::test_a_network_on_all_boards[mlperf_autoencoder_int8_qdq]",
    "tests/end_to_end/test_shapes.py::test_shape[depthwise-all]",
    # What is streamed runs under sanitizers in tests/end_to_end/test_streaming.py; ports of one hart stay on `virt`.
    "plugins/match-gap9/tests/test_streaming.py::test_streamed_constants_change_no_bit",
    "tests/end_to_end/test_build_files.py::test_the_vendors_sdk_builds_the_application[streamed]",
    "tests/qemu/test_virt.py::test_outputs_are_those_of_the_twin[carfield]",
    "plugins/match-beyond/tests/test_programs.py::test_copies_that_arrive_late_change_no_bit",
    # Units of GAP9 side by side: test_side_by_side.py, under sanitizers, in all modes.
    "plugins/match-gap9/tests/test_beside.py::test_every_mode_gives_the_same_bytes[eager-fast]",
    "plugins/match-gap9/tests/test_beside.py::test_side_by_side_is_faster_and_as_predicted[as-published]",
    "plugins/match-ita/tests/test_conformance.py::TestConformance::test_conformance[ita-programs-without]",
    "tests/fuzz/test_corpus.py::test_a_fixed_sample[1]",
    # Every kernel of Cortex-M runs on the twin or on the emulator, on one of the cores.
    *(
        f"plugins/match-cortexm/tests/test_kernels.py::test_on_the_twin[{case}"
        for case in ("border-", "over_read", "depthwise", "sums", "max_pool", "lookup")
    ),
    "plugins/match-cortexm/tests/test_kernels.py::test_on_the_emulator[border-stm32l4r5]",
    "plugins/match-cortexm/tests/test_kernels.py::test_on_the_emulator[over_read-stm32l4r5]",
    "plugins/match-cortexm/tests/test_kernels.py::test_on_the_emulator[max_pool-stm32l4r5]",
    *(
        f"plugins/match-diana/tests/digital/test_digital_twin.py::test_layers[{case}]"
        for case in ("pointwise stride", "no shift", "depthwise", "image", "sum", "sum channels")
    ),
    # Both layouts stay for one network, one for the others.
    *(
        f"tests/host/test_half_networks.py::test_network[matcha_{case}]"
        for case in ("dscnn_f16-nchw", "resnet_block_f16-nhwc", "resnext_block_f16-nchw", "resnext_block_f16-nhwc")
    ),
    *(
        f"tests/end_to_end/test_layers.py::test_moves_between_quantisers_and_layers[{case}]"
        for case in ("slice-gap9", "split-gap9", "concat-host", "reshape-gap9", "maximum-gap9", "after_concat-gap9")
    ),
    *(
        f"plugins/match-ita/tests/ita/test_ita_twin.py::test_bits[{case}]"
        for case in ("block", "relu", "every_second_row", "dino", "matmul")
    ),
    *(
        f"tests/report/test_schema.py::test_reports_follow_the_schema_and_can_be_rendered[{case}]"
        for case in ("gap9", "ita", "host")
    ),
    # One form of each kind of convolution stays.
    *(
        f"tests/end_to_end/test_micro.py::test_micro_convolution[micro_conv_{case}]"
        for case in ("dw_16x16_c16_pc_qdq", "dw_16x16_c16_qdq", "std_16x16_c16_qdq", "std_16x16_c16_relu_u8_int")
    ),
    "tests/end_to_end/test_micro.py::test_micro_convolution[micro_conv_std_16x16_c64_int]",
    "tests/end_to_end/test_host_models.py::test_a_model_is_right_and_needs_no_more_memory_than_it_must[mlperf_dscnn",
    "tests/end_to_end/test_host_models.py::test_a_model_is_right_and_needs_no_more_memory_than_it_must[micro_conv",
    "tests/end_to_end/test_integer_networks.py::test_stored_network[Kernels/Integer/Conv/PW_2D_RQ",
    # Some of several random networks, places, kernels or modes stay.
    *(f"core/tests/passes/test_narrow.py::test_random_networks[{seed}]" for seed in range(20, 40)),
    *(f"plugins/match-dnnl/tests/test_random_networks.py::test_random_networks[{seed}]" for seed in (3, 4, 5)),
    *(
        f"core/tests/regions/test_programs.py::test_random_networks_compute_what_they_say[{case}]"
        for case in ("engine_chip-1-limited", "engine_chip-2-free", "beside_chip-3-limited")
    ),
    *(
        f"tests/benchmarks/test_search_space.py::test_brute_force_prices_points_as_the_engine_does[{case}]"
        for case in (
            "False-260-data",
            "False-420-all",
            "False-4096-data",
            "True-260-all",
            "True-420-data",
            "True-4096-all",
        )
    ),
    *(
        f"tests/fuzz/test_corpus.py::test_numbers_of_inputs_stay_within_their_tensors[{operator}-{number}]"
        for operator in (
            "Slice",
            "Pad",
            "ReduceSum",
            "Tile",
            "TopK",
            "Split",
            "Unsqueeze",
            "Expand",
            "Reshape",
            "Gather",
        )
        for number in ("-1", "0")
    ),
    "tests/end_to_end/test_manners.py::test_an_interrupt_leaves_nothing[0.2]",
    "tests/end_to_end/test_manners.py::test_an_interrupt_leaves_nothing[3.2]",
    "tests/end_to_end/test_explain.py::test_the_change_that_it_names_moves_the_layer[carfield-LayerSpec(in_channels=8",
    "tests/end_to_end/test_explain.py::test_the_change_that_it_names_moves_the_layer[carfield-LayerSpec(in_channels=64",
    *(
        f"plugins/match-ita/tests/twin/test_ita_vectors.py::test_attention_and_feedforward[mha_{number}"
        for number in ("02", "08", "12", "20", "28", "32")
    ),
    "tests/end_to_end/test_tflite.py::test_the_program_is_the_network[carfield]",
    "tests/benchmarks/test_scale.py::test_a_compilation_is_measured_in_a_process_of_its_own",
    "tests/benchmarks/test_dnnl.py::test_a_detector_of_two_stages_goes_to_the_engine_and_back",
    "tests/end_to_end/test_hopeless.py::test_what_may_win_is",
    "plugins/match-diana/tests/analog/test_diana_energy.py::test_every_unit_has_energy_and_it_can_be_minimised",
    "core/tests/emit/test_layer_shares.py::test_any_share_with_bundled_constants_computes_its_part",
    "tests/test_forked.py::test_a_fork_does_what_a_process_does[verify",
    "tests/test_forked.py::test_a_fork_does_what_a_process_does[compile gone",
    *(
        f"plugins/match-cmsisnn/tests/test_calls.py::test_on_the_twin[{case}]"
        for case in ("pointwise", "dense", "average")
    ),
    "core/tests/emit/test_layer_mutations.py::test_every_statement_is_needed[step->\\\\w+_turn",
    "core/tests/emit/test_layer_mutations.py::test_every_statement_is_needed[tile->",
    "tests/end_to_end/test_diana.py::test_layers[paddings]",
    "tests/end_to_end/test_diana.py::test_layers[depthwise]",
    "tests/errors/test_output_directory.py::test_killed_at_every_point_of_writing[two steps]",
    "tests/verify/test_two_roundings.py::test_layers_keep_one_rounding_where_two_lose_too_much[40.0",
    "plugins/match-cortexm/tests/test_in_place.py::test_layers_overwrite_their_inputs[corstone300]",
    # Residual networks on the host stay.
    "tests/end_to_end/test_growth.py::test_no_function_is_called_more_than_in_proportion[carfield",
    "tests/end_to_end/test_growth.py::test_no_function_is_called_more_than_in_proportion[gap9",
    "tests/end_to_end/test_growth.py::test_no_function_is_called_more_than_in_proportion[host-branching",
    "tests/end_to_end/test_growth.py::test_no_function_is_called_more_than_in_proportion[host-chain",
    "tests/end_to_end/test_growth.py::test_no_function_is_called_more_than_in_proportion[host-transformer",
    "tests/end_to_end/test_growth.py::test_no_function_is_called_more_than_in_proportion[host-u-shaped",
)
